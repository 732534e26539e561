module github.com/krometrail/krometrail/tools

go 1.26.0

replace github.com/krometrail/krometrail/browser => ../browser

replace github.com/krometrail/krometrail/cmd => ../cmd

replace github.com/krometrail/krometrail/core => ../core

replace github.com/krometrail/krometrail/mcp => ../mcp

replace github.com/krometrail/krometrail/storage => ../storage

replace github.com/krometrail/krometrail/temporal => ../temporal

replace github.com/krometrail/krometrail/visual => ../visual

require (
	github.com/stretchr/testify v1.12.1
	golang.org/x/mod v0.43.0
	golang.org/x/tools v0.52.0
)

require go.yaml.in/yaml/v3 v3.0.5

require go.uber.org/goleak v1.3.0
