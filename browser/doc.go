// Package browser is the parent of the packages that drive and record Chrome over the DevTools protocol.
package browser
