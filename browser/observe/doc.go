// Package observe looks at pages without changing them: screenshots, live observations, identity and
// geometry, frames, loaded assets, semantic queries, and waiting for a condition.
package observe
