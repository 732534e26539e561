package chrome

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseStat(t *testing.T) {
	state, group := parseStat([]byte("12 (a ) b) Z 1 77 77 0"))
	assert.Equal(t, byte('Z'), state)
	assert.Equal(t, 77, group)
	for _, broken := range []string{"", "12", "12 (x)", "12 (x) S"} {
		_, group := parseStat([]byte(broken))
		assert.Zero(t, group)
	}
	start, ok := processStart(os.Getpid())
	assert.True(t, ok)
	assert.NotEmpty(t, start)
	assert.False(t, isOurs(os.Getpid(), start, "/nowhere"))
	_, ok = processStart(1 << 30)
	assert.False(t, ok)
}
