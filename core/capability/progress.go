package capability

import "context"

type reporterKey struct{}

// WithReporter returns a context whose operation can say how far it is. report may be called from any goroutine.
func WithReporter(ctx context.Context, report func(state string)) context.Context {
	return context.WithValue(ctx, reporterKey{}, report)
}

// Report says how far a long operation is, in a few words; it goes nowhere when nobody asked.
func Report(ctx context.Context, state string) {
	if report, ok := ctx.Value(reporterKey{}).(func(string)); ok {
		report(state)
	}
}
