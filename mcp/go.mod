module github.com/krometrail/krometrail/mcp

go 1.26.0

require (
	github.com/krometrail/krometrail/core v0.1.0
)

replace github.com/krometrail/krometrail/core => ../core
