package view

import (
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"github.com/ptdecode/ptdecode/cmd/internal/loopback"
	"github.com/ptdecode/ptdecode/decoder"
)

//go:embed page
var pageFiles embed.FS

// maxFlows is how many stretches are decoded at once. Each may take a quarter of
// Config.Memory, and somewhat more.
const maxFlows = 3

// server answers the page.
type server struct {
	h     *Host
	s     *decoder.Session
	call  caller
	jobs  int // decoded at once by each flow; 0: one for each CPU
	token string
	addr  string // it listens at
	mux   *http.ServeMux
	page  fs.FS         // its files
	flows chan struct{} // one for each flow under way
	work  sync.WaitGroup
	rec   *recording
	whole *overview  // of the whole recording
	pokes *pokeIndex // and the changes to its code
}

// newServer returns the server of s, which has no address yet.
func newServer(h *Host, s *decoder.Session, call caller, jobs int, token string) *server {
	v := &server{h: h, s: s, call: call, jobs: jobs, token: token, mux: http.NewServeMux(), flows: make(chan struct{}, maxFlows)}
	v.rec = v.gather()
	v.whole = newOverview(v)
	v.pokes = newPokeIndex(v)
	page, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic("view: " + err.Error())
	}
	v.page = page
	files := http.FileServerFS(page)
	v.mux.Handle("GET /{$}", v.guarded(files))
	v.mux.Handle("GET /", files)
	for path, answer := range map[string]func(*request) (any, error){
		"recording": v.answerRecording, "pokes": v.answerPokes, "list": v.pokes.answerList, "poke": v.answerPoke, "counts": v.answerCounts,
		"steps": v.answerSteps, "search": v.answerSearch,
		"jump": v.answerJump, "execution": v.answerExecution, "thread": threads{v}.answerThread,
		"calls": v.answerCalls, "stack": stacker{v}.answerStack, "flame": v.answerFlame, "function": v.answerFunction,
	} {
		v.mux.Handle("GET /api/"+path, v.guarded(v.json(answer)))
	}
	v.mux.Handle("GET /api/density", v.guarded(http.HandlerFunc(v.answerDensity)))
	return v
}

// url returns the page's URL, with the token.
func (v *server) url() string { return "http://" + v.addr + "/?token=" + v.token }

// ServeHTTP refuses what does not come from the page itself, and answers the rest.
func (v *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	loopback.Guarded(v.addr, v.mux).ServeHTTP(w, r)
}

// guarded answers those that know the token.
func (v *server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := r.Header.Get("X-Ptdecode-Token")
		if got == "" {
			got = r.URL.Query().Get("token")
		}
		if subtle.ConstantTimeCompare([]byte(got), []byte(v.token)) != 1 {
			loopback.Refuse(w, http.StatusForbidden, "the token is missing or wrong: take the URL that ptdecode view printed")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// badRequest is a request that cannot be answered as it stands.
type badRequest struct{ what string }

// Error returns what is wrong with the request.
func (e *badRequest) Error() string { return e.what }

func badf(format string, args ...any) error { return &badRequest{fmt.Sprintf(format, args...)} }

// json makes a handler of what answers with one value.
func (v *server) json(answer func(*request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.work.Add(1)
		defer v.work.Done()
		value, err := answer(&request{Request: r, query: r.URL.Query()})
		if err == nil {
			w.Header().Set("Content-Type", "application/json")
			err = json.NewEncoder(w).Encode(value)
			if err == nil || r.Context().Err() != nil {
				return
			}
		}
		fail(w, r, err)
	})
}

// fail answers with what went wrong.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	var bad *badRequest
	var call *decoder.CallError
	switch {
	case r.Context().Err() != nil: // nobody listens
	case errors.As(err, &bad):
		loopback.Refuse(w, http.StatusBadRequest, bad.what)
	case errors.As(err, &call):
		loopback.Refuse(w, http.StatusBadRequest, call.What)
	default:
		loopback.Refuse(w, http.StatusInternalServerError, strings.ToValidUTF8(err.Error(), "?"))
	}
}

// alone does work that decodes, when few others do.
func (v *server) alone(r *request, work func() error) error {
	select {
	case v.flows <- struct{}{}:
		defer func() { <-v.flows }()
		return work()
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

// flow decodes what q asks for, when few others do.
func (v *server) flow(r *request, q decoder.Query, sink decoder.Sink) error {
	q.Jobs = v.jobs
	return v.alone(r, func() error { return v.s.Flow(r.Context(), q, sink) })
}
