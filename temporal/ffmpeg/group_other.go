//go:build !unix

package ffmpeg

import "os/exec"

// ownGroup does nothing: this system has no process groups of this kind.
func ownGroup(*exec.Cmd) {}

// killGroup ends the process itself; ffmpeg starts no others.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
