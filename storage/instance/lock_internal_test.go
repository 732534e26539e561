package instance

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/krometrail/krometrail/core/fault"
)

// A file system on which a held lock can be taken again, or on which locking fails, is refused with what to do.
func TestAFileSystemWithoutWorkingLocksIsRefused(t *testing.T) {
	for name, try := range map[string]func(string) (bool, error){
		"taken twice":   func(string) (bool, error) { return true, nil },
		"not supported": func(string) (bool, error) { return false, syscall.ENOTSUP },
	} {
		t.Run(name, func(t *testing.T) {
			err := proveExclusion("lock", try)
			require.Equal(t, fault.PersistenceFailed, fault.CodeOf(err))
			require.Contains(t, fault.From(err).Recovery, "KROMETRAIL_DATA_DIR")
		})
	}
	require.NoError(t, proveExclusion("lock", func(string) (bool, error) { return false, nil }))
}
