module github.com/krometrail/krometrail/tools

go 1.26.0

require (
	github.com/krometrail/krometrail/browser v0.1.0
	github.com/krometrail/krometrail/cmd v0.1.0
	github.com/krometrail/krometrail/core v0.1.0
	github.com/krometrail/krometrail/mcp v0.1.0
	github.com/krometrail/krometrail/storage v0.1.0
	github.com/krometrail/krometrail/temporal v0.1.0
	github.com/krometrail/krometrail/visual v0.1.0
)

replace github.com/krometrail/krometrail/browser => ../browser
replace github.com/krometrail/krometrail/cmd => ../cmd
replace github.com/krometrail/krometrail/core => ../core
replace github.com/krometrail/krometrail/mcp => ../mcp
replace github.com/krometrail/krometrail/storage => ../storage
replace github.com/krometrail/krometrail/temporal => ../temporal
replace github.com/krometrail/krometrail/visual => ../visual
