package storage_test

func runCrashChild() bool { return false }
