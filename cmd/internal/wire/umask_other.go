//go:build !unix

package wire

// restrictPermissions has nothing to do where files inherit the directory's access list.
func restrictPermissions() {}
