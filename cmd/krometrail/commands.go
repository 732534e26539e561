package main

import (
	"fmt"
	"runtime"
	"text/tabwriter"

	"github.com/krometrail/krometrail/cmd/internal/setup"
	"github.com/krometrail/krometrail/cmd/internal/version"
)

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(s *streams) error {
	_, err := fmt.Fprintf(s.out, "krometrail %s %s %s/%s\n", version.String(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

type configCommand struct{}

// Run prints every effective value with its origin.
func (configCommand) Run(s *streams) error {
	w := tabwriter.NewWriter(s.out, 0, 4, 2, ' ', 0)
	for _, row := range s.config.Rows() {
		value := row.Value
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t# %s\n", row.Key, value, row.Origin, row.Help)
	}
	return w.Flush()
}

type setupCommand struct {
	Host string `arg:"" enum:"${hosts}" help:"Agent host: ${hosts}."`
}

// Run prints what the host needs.
func (c setupCommand) Run(s *streams) error {
	text, err := setup.Text(c.Host)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(s.out, text)
	return err
}
