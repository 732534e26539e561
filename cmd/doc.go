// Package cmd is the parent of the krometrail program and of the test harness built from the same wiring.
package cmd
