// Package cdp speaks the Chrome DevTools Protocol over one connection: numbered commands, flat sessions
// and events. One goroutine reads. It completes replies, offers each message to an interceptor (the
// screencast), and hands events to bounded subscriptions; a slow subscriber never delays a reply.
package cdp
