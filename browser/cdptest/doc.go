// Package cdptest is a scripted browser: the other end of a DevTools connection, for tests of everything a real
// browser will not do on demand.
package cdptest
