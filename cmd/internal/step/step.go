// Package step is the verb that walks through what was executed, forwards and backwards. It
// decodes only what lies around the place where it stands.
//
// Start reading in window.go, for what is decoded, and keys.go, for what keys do.
package step

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/machines"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Host is the command, as the verb sees it.
type Host struct {
	*host.Host
	In      io.Reader
	Screen  func() bool                                                  // standard output is a terminal
	Time    func(s *decoder.Session, spec string) (ns uint64, err error) // reads a moment
	Streams func(s *decoder.Session, cpus, ids string) ([]int, error)
}

// flags are the flags of the verb.
type flags struct {
	time, cpu, id, format string
	poke                  int
}

// New returns the verb.
func New(h *Host) *cobra.Command {
	var x flags
	c := &cobra.Command{
		Use:   "step REC",
		Short: "walk through what a CPU executed, forwards and backwards",
		Long: `Start at a time in one CPU's flow, and step from there by instruction, call, or change
to the code. step shows the code as it was then, the thread, how sure the instruction
is, between which changes the code was like that, and the time with its bounds.

On a terminal, keys work without Enter. Otherwise, lines of standard input are the same
keys, for scripts, and each prints where it leads. Only the trace around that place is
decoded, and more of it as you move on.

Keys:
  ` + strings.ReplaceAll(keyHelp, "\n", "\n  ") + `

A call through a thunk, such as a retpoline or a PLT stub, is one stop of c and C: at the
function that it enters. Trampolines of ftrace are no stops, as in flow --level call.

The exit code is 0, even if there are gaps: they are shown in place.`,
		Example: `  ptdecode step perf.data
  ptdecode step perf.data --cpu 1 --time 5.000000957
  ptdecode step perf.data --poke 385
  ptdecode step perf.data --time poke:385-1us
  printf '10 n\nk\n' | ptdecode step perf.data --cpu 0 -o jsonl`,
		Args: host.MaxArgs(1),
	}
	f := c.Flags()
	f.StringVar(&x.time, "time", "", "begin at this `TIME`, as flow prints it; also +5ms, 10%, poke:385-1us")
	f.StringVar(&x.cpu, "cpu", "", "on this `CPU`, N, or N@PID of a guest")
	f.StringVar(&x.id, "id", "", "on the source with this trace ID, hex: `ID`")
	f.IntVar(&x.poke, "poke", -1, "begin at the time of the change number `N`, on the CPU that made it")
	f.StringVarP(&x.format, "output", "o", "text", "a screen or a JSON object for each stop: `text|jsonl`")
	c.RunE = func(c *cobra.Command, args []string) error {
		if x.format != "text" && x.format != "jsonl" {
			return usage("--output %q: need text or jsonl", x.format)
		}
		if x.time != "" && x.poke >= 0 {
			return usage("--time and --poke both say where to begin: give one of them")
		}
		if x.poke < 0 && c.Flags().Changed("poke") {
			return usage("--poke %d: changes count from 0", x.poke)
		}
		s, err := h.Open(args)
		if err != nil {
			return err
		}
		defer s.Close()
		w := &stepper{host: h, s: s, asJSON: x.format == "jsonl", out: bufio.NewWriter(h.Out)}
		if err := w.begin(c.Context(), &x); err != nil {
			return err
		}
		return w.run(c.Context())
	}
	return c
}

func usage(format string, args ...any) error {
	return &decoder.CallError{What: fmt.Sprintf(format, args...)}
}

// stepper is a call of the verb.
type stepper struct {
	host   *Host
	s      *decoder.Session
	asJSON bool
	out    *bufio.Writer
	at     cursor
	said   string // what there is to say of where it begins
}

// begin goes to where the flags say.
func (w *stepper) begin(ctx context.Context, x *flags) error {
	only, err := w.streams(x.cpu, x.id)
	if err != nil {
		return err
	}
	time, cpu := uint64(0), -1
	switch {
	case x.time != "":
		if time, err = w.host.Time(w.s, x.time); err != nil {
			return usage("--time %s", err)
		}
	case x.poke >= 0:
		k, err := poke(w.s, x.poke)
		if err != nil {
			return usage("--poke %s", err)
		}
		time, cpu = k.Time, k.CPU
	}
	err = errors.New("no trace here says which instructions were executed")
	for _, stream := range w.candidates(only, cpu) {
		if err = w.goTo(ctx, stream, time); err == nil {
			w.said = w.outside(time)
		}
		if !errors.Is(err, errNothing) {
			return err
		}
	}
	if only == nil && errors.Is(err, errNothing) {
		return errNothing // on no stream
	}
	return err
}

// candidates returns the streams to begin on, the best first: of those asked for, nil for all, the one of a
// CPU, -1 for any, before the others.
func (w *stepper) candidates(only []int, cpu int) (list []int) {
	for i, st := range w.s.Streams() {
		switch {
		case !st.Executes() || only != nil && !slices.Contains(only, i):
		case only == nil && cpu >= 0 && machines.CPU(w.s, st) == cpu:
			list = slices.Insert(list, 0, i)
		default:
			list = append(list, i)
		}
	}
	return list
}

// errNothing says that nothing was executed on a stream.
var errNothing = errors.New("the trace shows no instruction: flow says why")

// outside says that a time, ns, to which the stepper went lies outside of the stream's trace. It is
// empty where what it came to may have run then, and where time is 0: none was asked for.
func (w *stepper) outside(time uint64) string {
	x, ok := w.at.here()
	if time == 0 || !ok || x.stamp.Time.Lo <= time && time <= x.stamp.Time.Hi {
		return ""
	}
	stream := w.at.stream
	lo, hi := filter.Traced(w.s, []int{stream})
	if lo == 0 || lo <= time && time <= hi {
		return ""
	}
	where, here := "before", "begins"
	if time > hi {
		where, here = "after", "ends"
	}
	return fmt.Sprintf("%s lies %s the trace of %s, which runs from %s to %s: here it %s",
		event.Seconds(time), where, w.s.Streams()[stream].Name, event.Seconds(lo), event.Seconds(hi), here)
}

// streams returns the indices of the traces of a CPU as flow prints it, N or N@PID for one of
// a guest, or of a trace ID; nil: all.
func (w *stepper) streams(cpu, id string) ([]int, error) {
	n, pid, ofGuest := strings.Cut(cpu, "@")
	only, err := w.host.Streams(w.s, n, id)
	if err != nil || !ofGuest {
		return only, err
	}
	only = slices.DeleteFunc(slices.Clone(only), func(i int) bool { return strconv.Itoa(int(w.s.Streams()[i].Guest)) != pid })
	if len(only) == 0 {
		return nil, usage("--cpu %s: need N@PID, a CPU of a guest that process PID runs, and there is no trace of it", cpu)
	}
	return only, nil
}

// poke returns the change of a machine with a number.
func poke(s *decoder.Session, n int) (*decoder.PokeInfo, error) {
	last := -1
	for k := range s.Pokes() {
		if last = k.Index; k.Index == n {
			return &k, nil
		}
	}
	if last < 0 {
		return nil, fmt.Errorf("%d: there is no such change: no change to the code of this machine is recorded", n)
	}
	return nil, fmt.Errorf("%d: there is no such change: the last one is %d", n, last)
}

// goTo goes to a time, ns, of a stream: to what ran first from then on, or else last.
func (w *stepper) goTo(ctx context.Context, stream int, time uint64) error {
	win, err := newWindow(ctx, w.s, stream, time)
	if err != nil {
		return err
	}
	c := cursor{window: win, ctx: ctx}
	for len(win.items) == 0 && !win.last {
		if err := win.more(ctx); err != nil {
			return err
		}
	}
	if len(win.items) == 0 {
		if ok, err := c.previous(); err != nil || !ok {
			return cmp.Or(err, fmt.Errorf("%s: %w", w.s.Streams()[stream].Name, errNothing))
		}
	}
	w.at = c
	return nil
}

// show prints where the stepper stands.
func (w *stepper) show(to io.Writer) error {
	p, err := w.at.stop()
	switch {
	case err != nil || p == nil:
		return err
	case w.asJSON:
		e := json.NewEncoder(to)
		e.SetEscapeHTML(false)
		return e.Encode(p)
	}
	return p.print(to)
}
