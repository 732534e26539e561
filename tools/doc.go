// Package tools holds checks and benchmarks of the workspace; it is never released.
package tools
