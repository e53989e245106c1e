package story

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/machines"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Path is the calls that the thread which made a poke was in, as its CPU's trace tells.
type Path struct {
	At     string  `json:"at"`     // "record": where the record was written; "time": where the flow was at about the poke's time
	Frames []Frame `json:"frames"` // the innermost first
	End    string  `json:"end"`    // what lies outside: "user", "switch", "gap", "start" or "limit"
}

// The ends of a Path.
const (
	endUser   = "user"   // the kernel was entered from user space there
	endSwitch = "switch" // another thread ran before
	endGap    = "gap"    // the flow before could not be followed
	endStart  = "start"  // the trace begins there
	endLimit  = "limit"  // more is not looked for
)

// Frame is a place in one function of a Path. The first one is where the flow stood. The
// others are where the one before was called, or where an interrupt came.
type Frame struct {
	Addr        string `json:"addr" schema:"hex16"`
	Sym         string `json:"sym,omitempty"`
	Time        uint64 `json:"time"` // ns, the lower bound
	Interrupted bool   `json:"interrupted,omitempty"`
	Verdict     string `json:"verdict" schema:"verdict"`
}

const (
	mostFrames = 64
	mostRows   = 1 << 20 // rows read backwards for a path
	// recordSlack is how long after the function that writes a record was called the record
	// may take its time, ns.
	recordSlack = 50_000
	// recorder is the kernel's function that writes the records of changes to code
	// (kernel/events/core.c, v6.1).
	recorder = "perf_event_text_poke"
)

var errDone = errors.New("story: done")

// path reads the flow of the CPU that made k backwards from its time. Where it finds
// nothing it says why.
func (x *Source) path(ctx context.Context, k *decoder.PokeInfo) (p *Path, why string, err error) {
	at := slices.IndexFunc(x.Session.Streams(), func(st *decoder.Stream) bool {
		if st.Guest != x.Session.Meta().Guest || !st.Executes() || !st.Timed() {
			return false
		}
		cpu := machines.CPU(x.Session, st)
		return cpu >= 0 && cpu == k.CPU || cpu < 0 && st.TID >= 0 && st.TID == k.TID
	})
	switch {
	case at < 0 && k.CPU < 0:
		return nil, "the record does not say which CPU made it", nil
	case at < 0:
		return nil, "no trace with times is of that CPU", nil
	case k.Time < x.Session.Streams()[at].Time().Lo || k.Time > x.Session.Streams()[at].Time().Hi:
		return nil, notCovered, nil
	}
	w := &pathReader{s: x.Session, k: k}
	only := []int{at}
	m := rows.New(x.Session, x.Streams, only, rows.Options{Level: rows.LevelBranch, Reverse: true, Until: k.Time, Gaps: true}, w.row)
	w.names = m.Names()
	q := decoder.Query{Streams: only, Until: k.Time, Jobs: x.Jobs, Reverse: true, Merged: true, Bounds: true}
	err = x.Session.Flow(ctx, q, untilDone{m})
	if err == nil && !w.done {
		err = m.Close()
	}
	if err != nil && !errors.Is(err, errDone) {
		return nil, "", err
	}
	return w.result(), w.why(), nil
}

// untilDone ends the flow when the reader of the rows has enough.
type untilDone struct{ to decoder.Sink }

// Flow passes b on.
func (u untilDone) Flow(b *decoder.Batch) error {
	if err := u.to.Flow(b); !errors.Is(err, errDone) {
		return err
	}
	return decoder.ErrStop
}

// pathReader makes a Path of rows that come newest first.
type pathReader struct {
	s       *decoder.Session
	k       *decoder.PokeInfo
	names   *rows.Names
	waiting []step // rows before it is known where to begin
	begun   bool
	done    bool
	rows    int
	depth   int // calls that have returned by then, and whose begin has not come yet
	at      string
	end     string
	frames  []Frame
	later   bool // more flow follows, without times
	vague   bool // it runs at the poke's time, but it is not known where
}

// notCovered says that a poke was made before or after what the CPU's trace tells.
const notCovered = "the trace of that CPU does not cover that time"

// why says why nothing was found.
func (w *pathReader) why() string {
	if w.vague {
		return "the trace of that CPU does not tell where it was at that time"
	}
	return notCovered
}

// step is what counts of a row.
type step struct {
	kind     rows.Kind
	transfer rows.Transfer
	ip, to   uint64
	hasTo    bool
	len      uint8
	lo, hi   uint64 // ns
	verdict  string
	tid      int32
}

// row takes a row.
func (w *pathReader) row(r *rows.Row) error {
	tid, _ := w.names.Thread(r)
	x := step{
		kind: r.Kind, transfer: r.Transfer, ip: r.IP, to: r.Addr, hasTo: r.HasAddr, len: r.Len,
		lo: r.Time.Lo, hi: r.Time.Hi, verdict: r.Verdict.String(), tid: tid,
	}
	switch {
	case w.begun:
		return w.step(&x)
	case x.lo == 0 && len(w.waiting) == 0:
		w.later = true
		return nil // before the first time that a later segment states
	}
	if x.transfer == rows.TransferCall && x.hasTo && w.calls(x.to) == recorder && x.lo <= w.k.Time {
		w.begun, w.at, w.waiting = true, "record", nil
		w.frames = append(w.frames, Frame{Addr: hex16(x.to), Sym: recorder, Time: x.lo, Verdict: x.verdict})
		return w.step(&x)
	}
	w.waiting = append(w.waiting, x)
	if x.hi+recordSlack >= w.k.Time && len(w.waiting) < mostRows/64 {
		return nil
	}
	return w.begin()
}

// begin begins at the poke's time: the record was written by other code, or was not seen
// to be.
func (w *pathReader) begin() error {
	w.begun, w.at = true, "time"
	list := w.waiting
	w.waiting = nil
	if len(list) == 0 || list[0].hi < w.k.Time || list[0].hi-list[0].lo > recordSlack || list[0].kind == rows.KindGap {
		w.vague = len(list) > 0 && list[0].hi >= w.k.Time && (list[0].hi != math.MaxUint64 || w.later) && list[0].transfer&rows.TransferTraceEnd == 0
		return w.stop(endGap) // nobody knows where the flow was then
	}
	if list[0].hasTo {
		w.push(list[0].to, &list[0], false)
	}
	for i := range list {
		if err := w.step(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// calls returns the name of the function that begins at addr, "" where none does.
func (w *pathReader) calls(addr uint64) string {
	y := w.s.Symbols()
	if y == nil {
		return ""
	}
	sym, off, ok := y.Lookup(addr, w.k.Time)
	if !ok || off != 0 {
		return ""
	}
	return sym.Name
}

// step takes a row that lies before the place where the path begins.
func (w *pathReader) step(x *step) error {
	if w.rows++; w.rows > mostRows {
		return w.stop(endLimit)
	}
	if x.kind == rows.KindGap {
		return w.stop(endGap)
	}
	if w.k.TID > 0 && x.tid >= 0 && x.tid != w.k.TID {
		return w.stop(endSwitch)
	}
	if x.kind == rows.KindTrap {
		return nil // with its handler
	}
	behind := x.ip + uint64(x.len)
	t := x.transfer
	ended := t&rows.TransferTraceEnd != 0
	switch t &^ rows.TransferTraceEnd {
	case rows.TransferCall:
		if !ended && x.hasTo && x.to-behind > 1 { // else it fills the return predictor
			return w.enters(x, false)
		}
	case rows.TransferReturn:
		if !ended {
			w.depth++
		}
	case rows.TransferIret, rows.TransferSysret:
		if x.to != behind || !x.hasTo { // else the kernel synchronises the CPU
			w.depth++
		}
	case rows.TransferInterrupt, rows.TransferInt, rows.TransferTrap:
		if !w.s.Kernel(x.ip) {
			return w.stop(endUser)
		}
		return w.enters(x, true)
	case rows.TransferSyscall, rows.TransferTraceStart:
		if t == rows.TransferSyscall || w.depth == 0 {
			return w.stop(endUser)
		}
	}
	return nil
}

// enters takes a call or an interrupt: it is open still if no return of it was seen.
func (w *pathReader) enters(x *step, interrupted bool) error {
	if w.depth > 0 {
		w.depth--
		return nil
	}
	w.push(x.ip, x, interrupted)
	if len(w.frames) == mostFrames {
		return w.stop(endLimit)
	}
	return nil
}

// push adds a frame at addr.
func (w *pathReader) push(addr uint64, x *step, interrupted bool) {
	w.frames = append(w.frames, Frame{
		Addr: hex16(addr), Sym: w.s.KernelSymbol(addr, x.lo), Time: x.lo, Interrupted: interrupted, Verdict: x.verdict,
	})
}

// stop ends the path.
func (w *pathReader) stop(end string) error {
	w.end, w.done = end, true
	return errDone
}

// result returns what was found, nil where that is nothing.
func (w *pathReader) result() *Path {
	if !w.begun {
		_ = w.begin()
	}
	if len(w.frames) == 0 {
		return nil
	}
	if w.end == "" {
		w.end = endStart
	}
	return &Path{At: w.at, Frames: w.frames, End: w.end}
}
