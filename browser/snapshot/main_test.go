package snapshot_test

import (
	"os"
	"testing"

	"github.com/krometrail/krometrail/browser/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }
