// Package transfer moves data between pages and the machine without pointer or keyboard: cookies, the clipboard and
// downloads. Values pass through and are never kept.
package transfer
