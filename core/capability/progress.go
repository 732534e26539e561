package capability

import "context"

type progressKey struct{}

// WithProgress makes Progress report to f for as long as work runs under the returned context. f may be called
// concurrently and must not block.
func WithProgress(ctx context.Context, f func(done, total float64, text string)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Progress tells whoever asked for it how far the work under ctx has come: done of total units, total 0 when it is
// not known. text is a few words that echo nothing of the page or the request. It costs nothing when nobody asked.
func Progress(ctx context.Context, done, total float64, text string) {
	if f, ok := ctx.Value(progressKey{}).(func(done, total float64, text string)); ok {
		f(done, total, text)
	}
}

type reporterKey struct{}

// WithReporter returns a context whose operation can say what it is doing. report may be called from any goroutine.
func WithReporter(ctx context.Context, report func(state string)) context.Context {
	return context.WithValue(ctx, reporterKey{}, report)
}

// Report says what a long operation is doing, in a few words, when it cannot count; it goes nowhere when nobody asked.
func Report(ctx context.Context, state string) {
	if report, ok := ctx.Value(reporterKey{}).(func(string)); ok {
		report(state)
	}
}

// WithoutProgress silences Progress below ctx: the parts of a work that reports for itself count other units.
func WithoutProgress(ctx context.Context) context.Context {
	return WithProgress(ctx, func(float64, float64, string) {})
}
