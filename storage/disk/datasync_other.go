//go:build !linux

package disk

// Datasync implements Syncer; systems without fdatasync sync everything.
func (f file) Datasync() error { return f.Sync() }
