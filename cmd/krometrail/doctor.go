package main

import (
	"github.com/krometrail/krometrail/cmd/internal/doctor"
	"github.com/krometrail/krometrail/core/clock"
)

type doctorCommand struct{}

// Run checks the installation.
func (doctorCommand) Run(s *streams) error {
	d := doctor.Doctor{Config: s.config, Clock: clock.System(), Env: s.env}
	return doctor.Report(s.out, d.Examine(s.ctx))
}
