//go:build !failpoints || !unix

package wire

import "github.com/krometrail/krometrail/storage"

// withFailPoint does nothing in a program that was not built for crash tests.
func withFailPoint(_ string, o storage.Options) (storage.Options, error) { return o, nil }
