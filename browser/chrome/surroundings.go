package chrome

import "os"

// SandboxMode is the operator's choice.
type SandboxMode string

// The modes. Auto switches the sandbox off only where it cannot work: as root.
const (
	SandboxAuto SandboxMode = "auto"
	SandboxOn   SandboxMode = "on"
	SandboxOff  SandboxMode = "off"
)

// Resolve says whether the sandbox is off and why.
func (m SandboxMode) Resolve() (off bool, reason string) {
	switch {
	case m == SandboxOff:
		return true, "configured"
	case m != SandboxOn && os.Geteuid() == 0:
		return true, "running as root"
	}
	return false, ""
}

// minSharedMemory is below what /dev/shm must hold for a renderer to survive large pages, in bytes.
const minSharedMemory = 256 << 20
