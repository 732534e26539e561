module github.com/krometrail/krometrail/temporal

go 1.26.0

require (
	github.com/krometrail/krometrail/core v0.1.0
	github.com/krometrail/krometrail/visual v0.1.0
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	golang.org/x/tools v0.52.0
	pgregory.net/rapid v1.3.0
)

require (
	golang.org/x/image v0.45.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.25.0
)

replace github.com/krometrail/krometrail/core => ../core

replace github.com/krometrail/krometrail/visual => ../visual
