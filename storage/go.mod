module github.com/krometrail/krometrail/storage

go 1.26.0

require (
	github.com/gofrs/flock v0.13.2
	github.com/krometrail/krometrail/core v0.1.0
	github.com/mattn/go-sqlite3 v1.14.53
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	golang.org/x/sys v0.50.0
	pgregory.net/rapid v1.3.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace github.com/krometrail/krometrail/core => ../core
