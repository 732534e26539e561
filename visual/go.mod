module github.com/krometrail/krometrail/visual

go 1.25.0

require (
	golang.org/x/image v0.45.0
	pgregory.net/rapid v1.3.0
)

require (
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)
