// Package temporal is the parent of the packages that answer questions about recorded time.
package temporal
