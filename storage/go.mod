module github.com/krometrail/krometrail/storage

go 1.26.0

require (
	github.com/krometrail/krometrail/core v0.1.0
)

replace github.com/krometrail/krometrail/core => ../core
