package view

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/shell"
)

// Show has pages that another package makes answer until ctx is done, on addr, an address of
// this machine itself. It prints to out the URL that they lie below, which has a token, and
// where open is set opens a browser there.
func Show(ctx context.Context, out io.Writer, addr string, open bool, pages http.Handler) error {
	if err := host.Loopback(addr); err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return host.Listening(addr, err)
	}
	v := &server{addr: l.Addr().String(), mux: http.NewServeMux()}
	below := "/" + host.NewToken()
	v.mux.Handle("GET "+below+"/", http.StripPrefix(below, pages))
	url := "http://" + v.addr + below + "/"
	if _, err := fmt.Fprintln(out, url); err != nil {
		return err
	}
	if open {
		_ = shell.Browse(url) // the URL stands above
	}
	return v.serve(ctx, l)
}
