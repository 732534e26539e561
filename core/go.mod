module github.com/krometrail/krometrail/core

go 1.26.0
