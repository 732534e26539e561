//go:build unix

package wire

import "golang.org/x/sys/unix"

// restrictPermissions makes everything this process and its browser create private to the user.
func restrictPermissions() { unix.Umask(0o077) }
