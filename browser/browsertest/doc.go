// Package browsertest gives tests one headless browser for a package and a fresh page for each case.
package browsertest
