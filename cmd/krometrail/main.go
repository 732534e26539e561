// Command krometrail drives and records a browser for coding agents over MCP.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// Signals are handled from the first line on: a terminated start must still take its browser along.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A host that has gone is an error of writing, not a signal that ends the process before its browser. Unlike
	// ignoring it, receiving it is not inherited by the browser and the encoder.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.LookupEnv)
	stop()
	os.Exit(code)
}
