// Package tracing attaches action traces to the interactions of traced pages and answers the tools that read and
// check them. Traces live in memory only and die with their page.
package tracing
