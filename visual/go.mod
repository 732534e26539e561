module github.com/krometrail/krometrail/visual

go 1.25.0
