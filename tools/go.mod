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

require (
	github.com/mark3labs/mcp-go v1.2.1
	github.com/modelcontextprotocol/go-sdk v1.8.0
	go.uber.org/goleak v1.3.0
)

require golang.org/x/image v0.45.0 // indirect

require (
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/krometrail/krometrail/visual v0.1.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.2 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/spf13/cast v1.7.1 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.41.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)
