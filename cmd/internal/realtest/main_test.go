package realtest

import (
	"testing"

	"go.uber.org/goleak"
)

// The log file's library keeps one idle goroutine for ever once a file was opened.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}
