package chrome

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/krometrail/krometrail/core/fault"
	"github.com/krometrail/krometrail/core/id"
	"github.com/krometrail/krometrail/core/page"
)

const (
	// Temporary is the reserved name of a profile that is removed with its session.
	Temporary = "temporary"
	// DefaultProfile is the first name tried when none is asked for.
	DefaultProfile = "default"
	// DefaultProfiles is how many names are tried.
	DefaultProfiles = 8

	privateDir = 0o700
	lockDir    = ".locks"
	tempDir    = ".temporary"
)

var profileName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// errLocked: another process holds the lock.
var errLocked = errors.New("locked by another process")

// Profiles keeps managed profiles below one folder. A profile is used by one program at a time: the lock is held by
// the operating system and ends with the process that took it.
type Profiles struct{ root string }

// NewProfiles keeps profiles below root, which is made on first use.
func NewProfiles(root string) Profiles { return Profiles{root: root} }

// Profile is an acquired profile. Release must be called after the browser has ended.
type Profile struct {
	// Name is the managed name or Temporary.
	Name string
	// Dir is the user data directory.
	Dir string
	// Substituted is set when default was in use and another name was taken.
	Substituted bool

	lock      *fileLock
	ownerFile string
}

// CheckProfileName reports whether name can name a managed profile.
func CheckProfileName(name string) error {
	if name == Temporary || profileName.MatchString(name) {
		return nil
	}
	return fault.Input("profile", "up to 64 lower-case letters, digits, - and _, starting with a letter or digit")
}

// Acquire takes the named profile, or for "" the first free of default, default-2 and so on, then a temporary one. A
// named profile in use is profile_in_use.
func (p Profiles) Acquire(name string) (*Profile, error) {
	p.sweep()
	switch name {
	case Temporary:
		return p.temporary()
	case "":
		return p.firstFree()
	}
	if err := CheckProfileName(name); err != nil {
		return nil, err
	}
	profile, err := p.take(name)
	if errors.Is(err, errLocked) {
		return nil, fault.New(fault.ProfileInUse, "the profile is in use by another session").
			WithRecovery(`name another profile, or use profile "temporary"`)
	}
	return profile, profileFault(err)
}

func (p Profiles) firstFree() (*Profile, error) {
	for i := range DefaultProfiles {
		name := DefaultProfile
		if i > 0 {
			name += "-" + strconv.Itoa(i+1)
		}
		profile, err := p.take(name)
		if err == nil {
			profile.Substituted = i > 0
			return profile, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, profileFault(err)
		}
	}
	profile, err := p.temporary()
	if err == nil {
		profile.Substituted = true
	}
	return profile, err
}

func (p Profiles) take(name string) (*Profile, error) {
	locks := filepath.Join(p.root, lockDir)
	if err := os.MkdirAll(locks, privateDir); err != nil {
		return nil, err
	}
	lock, err := acquireLock(filepath.Join(locks, name+".lock"))
	if err != nil {
		return nil, err
	}
	profile := &Profile{Name: name, Dir: filepath.Join(p.root, name), lock: lock, ownerFile: filepath.Join(locks, name+".owner")}
	if err := os.MkdirAll(profile.Dir, privateDir); err != nil {
		lock.release()
		return nil, err
	}
	profile.recover()
	return profile, nil
}

func (p Profiles) temporary() (*Profile, error) {
	name := id.New[id.Session]()[4:]
	base := filepath.Join(p.root, tempDir)
	profile := &Profile{Name: Temporary, Dir: filepath.Join(base, string(name)), ownerFile: filepath.Join(base, string(name)+".owner")}
	if err := os.MkdirAll(profile.Dir, privateDir); err != nil {
		return nil, profileFault(err)
	}
	lock, err := acquireLock(filepath.Join(base, string(name)+".lock"))
	if err != nil {
		return nil, profileFault(err)
	}
	profile.lock = lock
	return profile, nil
}

func profileFault(err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) {
		return err
	}
	cause := "unavailable"
	if errors.Is(err, os.ErrPermission) {
		cause = "permission"
	}
	return fault.New(fault.BrowserLaunchFailed, "the profile folder cannot be used (%s)", cause).
		WithRecovery("set KROMETRAIL_PROFILE_ROOT to a folder this user can write").Because(err)
}

// sweep removes temporary profiles whose program has died.
func (p Profiles) sweep() {
	base := filepath.Join(p.root, tempDir)
	locks, _ := filepath.Glob(filepath.Join(base, "*.lock"))
	for _, path := range locks {
		lock, err := acquireLock(path)
		if err != nil {
			continue // its program lives
		}
		stem := path[:len(path)-len(".lock")]
		left := &Profile{Dir: stem, ownerFile: stem + ".owner", Name: Temporary, lock: lock}
		left.recover()
		left.Release()
	}
}

// recover ends a browser that a dead program left behind in this profile and removes what would keep a new one
// from starting. The caller holds the profile's lock, so nobody who plays by the rules uses it.
func (p *Profile) recover() {
	if pid, start, ok := readOwner(p.ownerFile); ok && isOurs(pid, start, p.Dir) {
		killGroup(pid)
	}
	_ = os.Remove(p.ownerFile)
	for _, name := range []string{"SingletonLock", "SingletonCookie", "SingletonSocket", "DevToolsActivePort"} {
		if name == "SingletonLock" && lockedByLiving(filepath.Join(p.Dir, name)) {
			return // somebody started a browser by hand in this folder: Chrome itself will refuse
		}
		_ = os.Remove(filepath.Join(p.Dir, name))
	}
}

// Own notes which process uses the profile, for the recovery after a crash of this program.
func (p *Profile) Own(pid int) {
	start, ok := processStart(pid)
	if !ok {
		return
	}
	// Losing the note costs only the recovery's third line.
	_ = os.WriteFile(p.ownerFile, []byte(strconv.Itoa(pid)+" "+start+"\n"), 0o600)
}

// Release gives the profile back; a temporary one is removed.
func (p *Profile) Release() {
	_ = os.Remove(p.ownerFile)
	if p.Name == Temporary {
		_ = os.RemoveAll(p.Dir)
		_ = os.Remove(p.lock.path)
	}
	p.lock.release()
}

// List returns the managed profiles in order of their names.
func (p Profiles) List() (page.Profiles, error) {
	entries, err := os.ReadDir(p.root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return page.Profiles{}, profileFault(err)
	}
	list := page.Profiles{Profiles: []page.Profile{}}
	for _, entry := range entries {
		if entry.IsDir() && profileName.MatchString(entry.Name()) {
			list.Profiles = append(list.Profiles, page.Profile{Name: entry.Name(), InUse: p.inUse(entry.Name())})
		}
	}
	slices.SortFunc(list.Profiles, func(a, b page.Profile) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (p Profiles) inUse(name string) bool {
	path := filepath.Join(p.root, lockDir, name+".lock")
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock, err := acquireLock(path)
	if err != nil {
		return true
	}
	lock.release()
	return false
}
