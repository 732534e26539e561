module github.com/krometrail/krometrail/cmd

go 1.26.0

require (
	github.com/krometrail/krometrail/browser v0.1.0
	github.com/krometrail/krometrail/core v0.1.0
	github.com/krometrail/krometrail/mcp v0.1.0
	github.com/krometrail/krometrail/storage v0.1.0
	github.com/krometrail/krometrail/temporal v0.1.0
	github.com/krometrail/krometrail/visual v0.1.0
)
