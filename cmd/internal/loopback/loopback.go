// Package loopback serves pages that no other machine can reach, and nobody who does not know
// the token that their URL has.
package loopback

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/ptdecode/ptdecode/cmd/internal/shell"
	"github.com/ptdecode/ptdecode/decoder"
)

// Check refuses an address that other machines can reach.
func Check(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return &decoder.CallError{What: fmt.Sprintf("--http %q: need an address and a port, as 127.0.0.1:8080", addr)}
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return &decoder.CallError{What: fmt.Sprintf("--http %s: other machines could connect to %q; need 127.0.0.1, [::1] or localhost", addr, host)}
}

// Listen listens at addr, an address that Check takes.
func Listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--http %s: another program listens there; take another port, or 0 for any that is free", addr)
	case err != nil:
		return nil, fmt.Errorf("--http %s: %w", addr, err)
	}
	return l, nil
}

// NewToken returns what a URL must have to be answered: 128 random bits, hex.
func NewToken() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// here reports whether asked, the Host of a request, is the server at addr. A name that another's
// DNS leads to this machine is not.
func here(addr, asked string) bool {
	name, port, err := net.SplitHostPort(asked)
	_, own, _ := net.SplitHostPort(addr)
	if err != nil || port != own {
		return false
	}
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// own reports whether an Origin is the server at addr.
func own(addr, origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && u.Path == "" && here(addr, u.Host)
}

// Policy is what pages may do: use what their server gives, and nothing else.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Guarded has next answer what comes from a page of the server at addr itself, and refuses the rest.
func Guarded(addr string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for key, value := range map[string]string{
			"Content-Security-Policy": Policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			w.Header().Set(key, value)
		}
		switch {
		case !here(addr, r.Host):
			Refuse(w, http.StatusForbidden, "the Host of the request is not this server")
		case r.Header.Get("Origin") != "" && !own(addr, r.Header.Get("Origin")):
			Refuse(w, http.StatusForbidden, "the Origin of the request is another page")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			Refuse(w, http.StatusMethodNotAllowed, "need GET")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// Refuse answers with an error, as JSON.
func Refuse(w http.ResponseWriter, code int, what string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(map[string]string{"error": what})
}

// Serve has pages answer on l until ctx is done. That is how it is meant to end, and no error.
func Serve(ctx context.Context, l net.Listener, pages http.Handler) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	srv := &http.Server{
		Handler: pages, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		late, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		srv.Shutdown(late)
		srv.Close()
	}()
	err := srv.Serve(l)
	stop()
	<-ended
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Show has pages answer until ctx is done, on addr. It prints to out the URL that they lie
// below, which has a token, and where open is set opens a browser there.
func Show(ctx context.Context, out io.Writer, addr string, open bool, pages http.Handler) error {
	if err := Check(addr); err != nil {
		return err
	}
	l, err := Listen(addr)
	if err != nil {
		return err
	}
	mux, below := http.NewServeMux(), "/"+NewToken()
	mux.Handle("GET "+below+"/", http.StripPrefix(below, pages))
	own := l.Addr().String()
	if _, err := fmt.Fprintln(out, "http://"+own+below+"/"); err != nil {
		return err
	}
	if open {
		_ = shell.Browse("http://" + own + below + "/") // the URL stands above
	}
	return Serve(ctx, l, Guarded(own, mux))
}
