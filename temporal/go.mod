module github.com/krometrail/krometrail/temporal

go 1.26.0

require (
	github.com/krometrail/krometrail/core v0.1.0
	github.com/krometrail/krometrail/visual v0.1.0
)

replace github.com/krometrail/krometrail/core => ../core
replace github.com/krometrail/krometrail/visual => ../visual
