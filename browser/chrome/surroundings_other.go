//go:build !linux

package chrome

// SmallSharedMemory is a matter of Linux containers.
func SmallSharedMemory() bool { return false }

// HasGPU assumes what desktop systems have.
func HasGPU() bool { return true }
