package tools_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// machine is a pretend computer: a PATH of scripts that append what they were asked to calls, and a file system root.
type machine struct {
	t         *testing.T
	bin, root string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, bin: t.TempDir(), root: t.TempDir()}
	for _, tool := range []string{"sh", "grep", "sed"} {
		path, err := exec.LookPath(tool)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(m.bin, tool)))
	}
	m.script("id", "echo 1000")
	m.script("uname", "echo Linux")
	return m
}

// script puts an executable on the PATH. Its body runs after the call has been logged.
func (m *machine) script(name, body string) {
	m.t.Helper()
	text := "#!" + filepath.Join(m.bin, "sh") + "\necho \"" + name + " $*\" >>\"$CALLS\"\n" + body + "\n"
	require.NoError(m.t, os.WriteFile(filepath.Join(m.bin, name), []byte(text), 0o755))
}

// debian makes the machine a root shell on a system of that ID whose chromium candidate has the version given. Installing
// a package makes its command work, as apt-get would.
func (m *machine) debian(release, chromium string) {
	m.t.Helper()
	etc := filepath.Join(m.root, "etc")
	require.NoError(m.t, os.MkdirAll(etc, 0o755))
	require.NoError(m.t, os.WriteFile(filepath.Join(etc, "os-release"), []byte(release+"\n"), 0o644))
	m.script("id", "echo 0")
	m.script("apt-cache", "echo \"  Candidate: "+chromium+"\"")
	m.script("apt-get", `[ "$1" = install ] || exit 0
for p in "$@"; do case $p in chromium|ffmpeg|gcc)
  printf '#!%s/sh\n' "$BIN" >"$BIN/$p"; "$CHMOD" +x "$BIN/$p";;
esac; done`)
}

type answer struct {
	status      int
	output      string
	calls       []string
	installedBy string
}

func (m *machine) ensure(env ...string) answer {
	m.t.Helper()
	calls := filepath.Join(m.t.TempDir(), "calls")
	chmod, err := exec.LookPath("chmod")
	require.NoError(m.t, err)
	cmd := exec.Command(filepath.Join(m.bin, "sh"), "ensure")
	cmd.Env = append([]string{
		"PATH=" + m.bin, "HOME=" + m.root, "ENSURE_ROOT=" + m.root, "CALLS=" + calls, "BIN=" + m.bin, "CHMOD=" + chmod,
	}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		var exit *exec.ExitError
		require.ErrorAs(m.t, err, &exit, "%s", out)
	}
	got := answer{status: cmd.ProcessState.ExitCode(), output: string(out)}
	if log, err := os.ReadFile(calls); err == nil {
		got.calls = strings.Split(strings.TrimSpace(string(log)), "\n")
	}
	for _, c := range got.calls {
		if strings.HasPrefix(c, "apt-get install") {
			got.installedBy = c
		}
	}
	return got
}

const (
	debian = "ID=debian"
	ubuntu = "ID=ubuntu\nID_LIKE=debian"
	real   = "156.0.8078.114-1~deb12u1"
	stub   = "2:1snap1-0ubuntu2"
)

func TestEnsureAcceptsWhatIsThere(t *testing.T) {
	m := newMachine(t)
	m.debian(debian, real)
	for _, name := range []string{"google-chrome", "gcc", "ffmpeg"} {
		m.script(name, "")
	}
	got := m.ensure()
	assert.Zero(t, got.status, got.output)
	assert.Empty(t, got.installedBy)
	assert.Contains(t, got.output, filepath.Join(m.bin, "google-chrome"))
}

func TestEnsureInstallsOnDebianAsRoot(t *testing.T) {
	m := newMachine(t)
	m.debian(debian, real)
	got := m.ensure()
	assert.Zero(t, got.status, got.output)
	assert.Equal(t, "apt-get install -y --no-install-recommends chromium ffmpeg gcc libc6-dev", got.installedBy)
	assert.Contains(t, got.output, "+ apt-get install -y --no-install-recommends chromium ffmpeg", "the command is printed")
}

func TestEnsureInstallsOnlyWhatIsMissing(t *testing.T) {
	m := newMachine(t)
	m.debian(debian, real)
	m.script("chromium", "")
	m.script("gcc", "")
	got := m.ensure()
	assert.Zero(t, got.status, got.output)
	assert.Equal(t, "apt-get install -y --no-install-recommends ffmpeg", got.installedBy)
}

func TestEnsureDoesNotInstallTheSnapStub(t *testing.T) {
	m := newMachine(t)
	m.debian(ubuntu, stub)
	got := m.ensure()
	assert.Equal(t, 1, got.status)
	assert.Equal(t, "apt-get install -y --no-install-recommends ffmpeg gcc libc6-dev", got.installedBy)
	assert.Contains(t, got.output, "snap stub")
	assert.Contains(t, got.output, "https://www.google.com/chrome/")
}

func TestEnsureTakesNoStubForABrowser(t *testing.T) {
	m := newMachine(t)
	m.script("gcc", "")
	m.script("chromium-browser", "echo 'requires the chromium snap' >&2; exit 1")
	got := m.ensure()
	assert.Equal(t, 1, got.status)
	assert.Contains(t, got.output, "no Chrome or Chromium found")
}

func TestEnsureCheckInstallsNothing(t *testing.T) {
	m := newMachine(t)
	m.debian(debian, real)
	got := m.ensure("ENSURE=check")
	assert.Equal(t, 1, got.status)
	assert.Empty(t, got.installedBy)

	m.script("chromium", "")
	assert.Zero(t, m.ensure("ENSURE=check").status, "the status speaks of the browser alone")
}

func TestEnsureLeavesOtherPeoplesMachinesAlone(t *testing.T) {
	m := newMachine(t)
	m.debian(debian, real)
	m.script("id", "echo 1000")
	got := m.ensure()
	assert.Equal(t, 1, got.status)
	assert.Empty(t, got.installedBy)
	assert.Contains(t, got.output, "apt-get install chromium")
	assert.Contains(t, got.output, "apt-get install gcc libc6-dev")
	assert.Contains(t, got.output, "apt-get install ffmpeg")
}

func TestEnsureNamesTheMacPackages(t *testing.T) {
	m := newMachine(t)
	m.script("uname", "echo Darwin")
	got := m.ensure()
	assert.Equal(t, 1, got.status)
	assert.Contains(t, got.output, "brew install --cask google-chrome")
	assert.Contains(t, got.output, "xcode-select --install")
	assert.Contains(t, got.output, "brew install ffmpeg")
}

func TestEnsureFindsTheMacApplication(t *testing.T) {
	m := newMachine(t)
	m.script("gcc", "")
	app := filepath.Join(m.root, "Applications", "Google Chrome.app", "Contents", "MacOS")
	require.NoError(t, os.MkdirAll(app, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(app, "Google Chrome"), []byte("#!"+m.bin+"/sh\n"), 0o755))
	got := m.ensure()
	assert.Zero(t, got.status, got.output)
	assert.Contains(t, got.output, "Google Chrome.app")
}

func TestEnsureMissingFFmpegIsNotFatal(t *testing.T) {
	m := newMachine(t)
	m.script("gcc", "")
	m.script("chromium", "")
	got := m.ensure()
	assert.Zero(t, got.status, got.output)
	assert.Contains(t, got.output, "video clips stay off")
}

func TestEnsureMissingCompilerIsFatalOutsideCheck(t *testing.T) {
	m := newMachine(t)
	m.script("chromium", "")
	got := m.ensure()
	assert.Equal(t, 1, got.status)
	assert.Contains(t, got.output, "no working C compiler")
}

func TestEnsureTakesTheExplicitBrowserOrNone(t *testing.T) {
	m := newMachine(t)
	m.debian(debian, real)
	m.script("chromium", "")
	m.script("gcc", "")
	m.script("ffmpeg", "")
	m.script("mine", "")
	assert.Contains(t, m.ensure("KROMETRAIL_CHROME="+filepath.Join(m.bin, "mine")).output, filepath.Join(m.bin, "mine"))

	got := m.ensure("KROMETRAIL_CHROME=" + filepath.Join(m.bin, "absent"))
	assert.Equal(t, 1, got.status)
	assert.Empty(t, got.installedBy, "another browser would not be the one asked for")
	assert.Contains(t, got.output, "does not answer --version")
}
