// Package redact makes page-authored text and URLs fit to be kept and shown.
//
// Text is a best-effort sanitizer: it recognises common shapes of secrets, URLs and absolute file
// paths and replaces them by fixed placeholders. It is defence in depth, not a security boundary; an
// unusual encoding or an unfamiliar key name passes. testdata/corpus.txt is its contract: a shape that
// was missed becomes a row there first.
//
// Summarize and its neighbours decide how much of a URL may be seen where: LiveURL for the agent's
// own pages, Path for a document that shares the page's origin, a URLSummary everywhere else.
package redact
