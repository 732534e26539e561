//go:build !linux && !darwin

package doctor

// freeBytes is unknown here.
func freeBytes(string) (int64, bool) { return 0, false }
