package demo

import (
	"context"
	_ "embed"
	"net"
	"net/http"
	"time"

	"github.com/krometrail/krometrail/core/fault"
)

//go:embed page.html
var page []byte

type site struct {
	url    string
	server *http.Server
}

// serve offers the built-in page on a free loopback port.
func serve(ctx context.Context) (*site, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fault.New(fault.Internal, "no loopback port could be opened for the built-in page").Because(err)
	}
	s := &site{url: "http://" + listener.Addr().String() + "/", server: &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(page)
		}),
	}}
	go func() { _ = s.server.Serve(listener) }() // ends with close
	return s, nil
}

func (s *site) close() { _ = s.server.Close() }
