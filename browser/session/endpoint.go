package session

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/krometrail/krometrail/browser/cdp"
	"github.com/krometrail/krometrail/core/clock"
	"github.com/krometrail/krometrail/core/fault"
)

// endpoint is a debugging endpoint of this machine: an http address to ask, or the browser's socket itself.
type endpoint struct {
	http   string
	socket string
}

const endpointRule = "a loopback http address such as http://127.0.0.1:9222, a ws address of the browser, or a port"

// parseEndpoint accepts a port, an http address or a ws address, on this machine only.
func parseEndpoint(text string) (endpoint, error) {
	text = strings.TrimSpace(text)
	if port, err := strconv.ParseUint(text, 10, 16); err == nil && port > 0 {
		return endpoint{http: "http://127.0.0.1:" + text}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil {
		return endpoint{}, fault.Input("endpoint", endpointRule)
	}
	if !loopbackHost(u.Hostname()) {
		return endpoint{}, fault.Input("endpoint", "on this machine: 127.0.0.1, ::1 or localhost; other machines are never driven")
	}
	switch u.Scheme {
	case "http":
		return endpoint{http: "http://" + u.Host}, nil
	case "ws":
		if strings.HasPrefix(u.Path, "/devtools/page/") {
			return endpoint{}, fault.Input("endpoint", "the browser's ws address (/devtools/browser/...), not that of one page")
		}
		return endpoint{socket: u.String()}, nil
	}
	return endpoint{}, fault.Input("endpoint", endpointRule)
}

func loopbackHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

var errNotLoopback = errors.New("the address is not on this machine")

// loopbackClient speaks only to this machine, whatever names resolve to, through no proxy and without redirects.
func loopbackClient() *http.Client {
	dialer := &net.Dialer{}
	return &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dialer.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
					_ = conn.Close()
					return nil, errNotLoopback
				}
				return conn, nil
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// dial connects to the browser behind the endpoint.
func (e endpoint) dial(ctx context.Context, c clock.Clock) (cdp.Transport, error) {
	ctx, cancel := clock.WithTimeout(ctx, c, dialLimit)
	defer cancel()
	client := loopbackClient()
	socket := e.socket
	if socket == "" {
		found, err := e.ask(ctx, client)
		if err != nil {
			return nil, err
		}
		socket = found
	}
	transport, err := cdp.DialWebSocket(ctx, socket, client)
	if err != nil {
		return nil, unreachable(err)
	}
	return transport, nil
}

// maxVersion bounds the endpoint's description of itself, in bytes.
const maxVersion = 64 << 10

// ask finds the browser's socket through the endpoint's description. Only its path is believed: the host stays the
// one that was given.
func (e endpoint) ask(ctx context.Context, client *http.Client) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.http+"/json/version", nil)
	if err != nil {
		return "", fault.Input("endpoint", endpointRule)
	}
	response, err := client.Do(request)
	if err != nil {
		return "", unreachable(err)
	}
	defer func() { _ = response.Body.Close() }()
	var version struct {
		Socket string `json:"webSocketDebuggerUrl"`
	}
	err = json.NewDecoder(io.LimitReader(response.Body, maxVersion)).Decode(&version)
	u, parseErr := url.Parse(version.Socket)
	if response.StatusCode != http.StatusOK || err != nil || parseErr != nil || u.Path == "" {
		return "", fault.New(fault.BrowserLaunchFailed, "the endpoint does not describe a browser").
			WithRecovery("this build may offer only its ws address: pass the ws:// address the browser printed when it started")
	}
	return "ws://" + strings.TrimPrefix(e.http, "http://") + u.Path, nil
}

func unreachable(err error) error {
	return fault.New(fault.BrowserDisconnected, "nothing answers at the debugging endpoint").
		WithRecovery("start the browser with --remote-debugging-port and check the port").Because(err)
}
