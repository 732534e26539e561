package chrome

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLaunchCauses(t *testing.T) {
	for text, want := range map[string]string{
		"[1:1] FATAL: No usable sandbox! Update your kernel":                          CauseNoSandbox,
		"Running as root without --no-sandbox is not supported":                       CauseNoSandbox,
		"Failed to create /x/SingletonLock: File exists (17)":                         CauseProfileInUse,
		"Missing X server or $DISPLAY":                                                CauseNoDisplay,
		"error while loading shared libraries: libnss3.so: cannot open":               CauseMissingLibrary,
		"write failed: No space left on device":                                       CauseStorageFull,
		"cannot find a snap: this command requires the chromium snap to be installed": CauseSnap,
		"something nobody has seen":                                                   CauseExited,
	} {
		assert.Equal(t, want, launchCause(text, 1), text)
	}
	assert.Equal(t, CauseProfileInUse, launchCause("", 21))
}

func TestRingKeepsTheNewest(t *testing.T) {
	r := newRing(10)
	for _, s := range []string{"abc", "defg", "hijklm"} {
		n, err := r.Write([]byte(s))
		assert.NoError(t, err)
		assert.Equal(t, len(s), n)
	}
	assert.Equal(t, "defghijklm", r.String())
}

func TestRedactedKeepsSecretsAndPathsToItself(t *testing.T) {
	r := newRing(200)
	_, _ = r.Write([]byte(strings.Repeat("x", 150) + " password=early\n"))
	_, _ = r.Write([]byte("ERROR: cannot open /opt/zoe/.config/x for https://a.test/?token=abc\npassword=hunter2 was refused\n"))
	got := r.Redacted(1000)
	for _, secret := range []string{"early", "zoe", "a.test", "abc", "hunter2", "xxx"} {
		assert.NotContains(t, got, secret)
	}
	assert.Contains(t, got, "ERROR: cannot open")
	assert.Contains(t, got, "was refused")
	assert.Contains(t, r.Redacted(40), "was refused")
	assert.NotContains(t, r.Redacted(40), "ERROR")
}

func TestAFailedLaunchCarriesTheRedactedEndOfStderr(t *testing.T) {
	p := &Process{stderr: newRing(stderrRing), exited: make(chan struct{}), exitCode: 1}
	_, _ = p.stderr.Write([]byte("cannot read /opt/zoe/x\n"))
	close(p.exited)
	failure := p.Failure()
	assert.NotContains(t, failure.Error(), "cannot read")
	assert.Contains(t, failure.Unwrap().Error(), "cannot read")
	assert.NotContains(t, failure.Unwrap().Error(), "zoe")
}

func TestArgumentsFollowTheConfig(t *testing.T) {
	all := Config{ProfileDir: "/p", Headless: true, NoSandbox: true, SmallSharedMemory: true, SoftwareGL: true, Width: 5, Height: 6}.arguments()
	line := strings.Join(all, " ")
	for _, want := range []string{"--remote-debugging-pipe", "--user-data-dir=/p", "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader", "--window-size=5,6"} {
		assert.Contains(t, line, want)
	}
	bare := strings.Join(Config{ProfileDir: "/p"}.arguments(), " ")
	for _, not := range []string{"--headless", "--no-sandbox", "--disable-dev-shm-usage", "swiftshader", "--window-size", "--remote-debugging-port"} {
		assert.NotContains(t, bare, not)
	}
}
