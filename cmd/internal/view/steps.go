package view

import (
	"fmt"
	"math"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// step is an instruction as executed, or what lies between two.
type step struct {
	At      string  `json:"at"`   // names the step: stepKey
	Kind    string  `json:"kind"` // insn, trap, gap, cut, on, off, event
	Time    uint64  `json:"time"` // ns behind the base: the lower bound
	Until   *uint64 `json:"until,omitempty"`
	IP      string  `json:"ip,omitempty"`
	Sym     string  `json:"sym,omitempty"`
	Bytes   string  `json:"bytes,omitempty"` // as of that moment
	Insn    string  `json:"insn,omitempty"`
	Verdict string  `json:"verdict,omitempty"`
	Either  bool    `json:"either,omitempty"`  // several versions of the code fit, and do the same
	Learned bool    `json:"learned,omitempty"` // no record tells of the code: the trace shows it
	Src     string  `json:"src,omitempty"`     // file:line
	TID     int32   `json:"tid"`               // -1: not known
	Comm    string  `json:"comm,omitempty"`
	Poke    *int    `json:"poke,omitempty"`      // of a trap or a cut; of an instruction: it is the first of the new code, as far as crossings are known
	Change  *int    `json:"change,omitempty"`    // the next change to the bytes of this instruction
	In      *int64  `json:"change_in,omitempty"` // ns from Time to it
	Guest   int32   `json:"guest,omitempty"`     // the virtual machine's process: poke and change are numbers of its own
	What    string  `json:"what,omitempty"`      // of what is no instruction
}

// stepKey names an item of a stream: the offset of the trace event that led to it, bytes,
// and its number among those of that offset. Notes count by themselves.
type stepKey struct {
	note bool
	off  int64
	n    int
}

// String renders k: i or n, the offset, and the number.
func (k stepKey) String() string { return fmt.Sprintf("%c%d.%d", "in"[pick(k.note)], k.off, k.n) }

func pick(b bool) int {
	if b {
		return 1
	}
	return 0
}

// parseKey is the inverse of String.
func parseKey(s string) (k stepKey, err error) {
	var c rune
	if _, err = fmt.Sscanf(s, "%c%d.%d", &c, &k.off, &k.n); err != nil || c != 'i' && c != 'n' || k.off < 0 || k.n < 0 {
		return k, badf("at=%q: need a place as steps gives it", clean(s))
	}
	k.note = c == 'n'
	return k, nil
}

// item is a step before its names are known.
type item struct {
	key     stepKey
	time    event.Time
	block   *decoder.Block
	insn    int // of block
	addr    uint64
	verdict decoder.Verdict
	either  bool
	note    *decoder.Note // a copy; nil: an instruction
}

// walk finds items around an anchor in one stream: a decoder.Sink.
type walk struct {
	anchor        func(*item) bool
	before, after int
	found         bool
	ring          []item // the last ones before the anchor
	head          int    // of the oldest one in ring, once that is full
	list          []item // from the anchor on
	last          uint64 // ns: the time before
	key           stepKey
	noteKey       stepKey
	each          func(*item) bool // takes the items; nil: they are collected
}

// Restart begins anew (decoder.Restarter).
func (w *walk) Restart() bool {
	w.found, w.ring, w.head, w.list, w.last = false, w.ring[:0], 0, w.list[:0], 0
	w.key, w.noteKey = stepKey{off: -1}, stepKey{off: -1, note: true}
	return true
}

// Flow takes the items of b.
func (w *walk) Flow(b *decoder.Batch) error {
	n := 0
	for i := 0; i <= len(b.Ranges); i++ {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			note := b.Notes[n]
			it := item{note: &note, time: note.Event.Time, addr: note.IP, verdict: note.Verdict, key: numbered(&w.noteKey, note.Event.Off)}
			if note.Kind == decoder.NoteGap {
				it.time, it.addr = note.Gap.Time, note.Gap.IP
				it.key = numbered(&w.noteKey, note.Gap.Off)
				it.time.Lo = max(it.time.Lo, w.last) // no record may tell when trace was lost
			}
			if !w.take(&it) {
				return decoder.ErrStop
			}
		}
		if i == len(b.Ranges) {
			break
		}
		r := &b.Ranges[i]
		s := &b.Stamps[r.Stamp]
		w.last = s.Time.Lo
		it := item{time: s.Time, block: r.Block, addr: r.Block.Addr, verdict: r.Verdict, either: r.Either()}
		for it.insn = range int(r.N) {
			it.key = numbered(&w.key, s.Off)
			if !w.take(&it) {
				return decoder.ErrStop
			}
			it.addr += uint64(r.Block.Lens[it.insn])
		}
	}
	return nil
}

// numbered counts the next item of an offset.
func numbered(k *stepKey, off int64) stepKey {
	if k.off == off {
		k.n++
	} else {
		k.off, k.n = off, 0
	}
	return *k
}

// take takes an item. It returns false where no more is wanted.
func (w *walk) take(it *item) bool {
	if w.each != nil {
		return w.each(it)
	}
	if !w.found && w.anchor(it) {
		w.found = true
	}
	switch {
	case w.found:
		w.list = append(w.list, *it)
	case w.before == 0:
	case len(w.ring) < w.before:
		w.ring = append(w.ring, *it)
	default:
		w.ring[w.head] = *it
		w.head = (w.head + 1) % w.before
	}
	return len(w.list) < w.after
}

// items returns what was found, in order, and how many lie before the anchor.
func (w *walk) items() (list []item, before int) {
	list = append(list, w.ring[w.head:]...)
	list = append(list, w.ring[:w.head]...)
	return append(list, w.list...), len(w.ring)
}

// stepsAnswer is what /api/steps answers.
type stepsAnswer struct {
	Stream  int    `json:"stream"`
	Anchor  int    `json:"anchor"` // index in Steps
	Found   bool   `json:"found"`
	Steps   []step `json:"steps"`
	Command string `json:"command"`
}

// maxSteps is how many steps are given at once, on either side.
const maxSteps = 2000

// answerSteps answers /api/steps: what a stream executed before and behind a moment, or
// before and behind a step.
func (v *server) answerSteps(r *request) (any, error) {
	st, err := r.stream(v)
	if err != nil {
		return nil, err
	}
	t, err := r.number("time", 0, maxTime)
	if err != nil {
		return nil, err
	}
	w := &walk{}
	for name, to := range map[string]*int{"before": &w.before, "after": &w.after} {
		n, err := r.number(name, 50, maxSteps)
		if err != nil {
			return nil, err
		}
		*to = int(n)
	}
	w.after = max(1, w.after)
	at := r.query.Get("at")
	w.anchor = func(it *item) bool { return v.rec.axis(it) >= t }
	if at != "" {
		k, err := parseKey(at)
		if err != nil {
			return nil, err
		}
		w.anchor = func(it *item) bool { return it.key == k }
	}
	if err := v.walk(r, st, t, w); err != nil {
		return nil, err
	}
	list, before := w.items()
	out := stepsAnswer{Stream: st.Index, Anchor: before, Found: w.found, Steps: v.named(st, list), Command: v.stepsCall(st, list)}
	return &out, nil
}

// axis returns where on the axis an item lies.
func (r *recording) axis(it *item) uint64 {
	if r.Timed {
		return r.rel(it.time.Lo)
	}
	return uint64(max(0, it.key.off))
}

// walk decodes as much before t as w wants.
func (v *server) walk(r *request, st *decoder.Stream, t uint64, w *walk) error {
	for back := uint64(0); ; back = farther(back) {
		q, all := v.since(st, t, back)
		w.Restart()
		if err := v.flow(r, q, w); err != nil {
			return err
		}
		if all || w.found && len(w.ring) == w.before {
			return nil
		}
	}
}

// since returns the query of the flow of st from so far before a place on, and whether that
// is all of it.
func (v *server) since(st *decoder.Stream, t, back uint64) (q decoder.Query, all bool) {
	q = decoder.Query{Streams: []int{st.Index}, Bounds: true}
	switch {
	case back >= t:
		return q, true
	case !v.rec.Timed:
		q.FromOff = int64(t - back)
	case v.rec.bisect[st.Index]:
		q.From = v.rec.base + t - back
	default:
		return q, true
	}
	return q, false
}

// farther returns how far before a moment is looked next, ns.
func farther(back uint64) uint64 {
	if back > math.MaxUint64/16 {
		return math.MaxUint64
	}
	return max(back*16, 10_000)
}

// named makes steps of items: their symbols, threads and code.
func (v *server) named(st *decoder.Stream, list []item) []step {
	streams := listedStreams(v.s)
	names := rows.New(v.s, streams, nil, rows.Options{}, nil).Names()
	out := make([]step, 0, len(list))
	first := firsts(st.Index, v.pokes.list, v.pokes.known())
	for i := range list {
		it := &list[i]
		s := v.step(names, &streams[st.Index], it)
		x := execution{it.addr, it.time.Lo}
		if poke, ok := first[x]; ok && it.note == nil && st.Guest == 0 {
			s.Poke = &poke
			delete(first, x) // others may have the same moment
		}
		out = append(out, s)
	}
	return out
}

// step makes a step of an item.
func (v *server) step(names *rows.Names, st *rows.Stream, it *item) step {
	row := rows.Row{Stream: st, Time: it.time, Verdict: it.verdict, Poke: -1, IP: it.addr, Span: event.EveryEpoch}
	s := step{At: it.key.String(), Kind: "insn", Time: v.rec.axis(it), TID: -1, Guest: st.Guest}
	if it.time.Hi != math.MaxUint64 && v.rec.Timed {
		hi := v.rec.rel(it.time.Hi)
		s.Until = &hi
	}
	if v.rec.Timed {
		s.TID, s.Comm = names.Thread(&row)
		s.Comm = clean(s.Comm)
	}
	if it.note != nil {
		v.noteStep(&s, it.note)
	} else {
		b := it.block
		row.Kind, row.N, row.Space, row.Mode, row.Span, row.Len = rows.KindInsn, 1, b.Space, b.Mode, b.Span, b.Lens[it.insn]
		s.Bytes, s.Insn = hexBytes(names.Bytes(&row)), clean(names.Disasm(&row))
		s.Verdict, s.Either = it.verdict.String(), it.either
		m := machineOf(v.s, st.Guest)
		s.Learned = b.Space == 0 && wasLearned(m.Learned(), it.addr, uint64(row.Len))
		s.Src = sourceOf(names.Lines(&row))
		if b.Space == 0 && b.Mode != isa.ModeUnknown {
			v.changes(&s, m.Text(), it, int(row.Len))
		}
	}
	if it.addr != 0 {
		s.IP = hex16(it.addr)
		p := names.At(&row, it.addr)
		s.Sym = clean(placeName(&p))
	}
	return s
}

// sourceOf renders the line that frames begin with; "": nothing tells.
func sourceOf(frames []symbols.Frame) string {
	if len(frames) == 0 || frames[0].File == "" {
		return ""
	}
	return clean(fmt.Sprintf("%s:%d", frames[0].File, frames[0].Line))
}

// placeName renders a place: symbol+offset and the module, or file+offset.
func placeName(p *rows.Place) string {
	name := p.Sym
	switch {
	case !p.Known:
		return ""
	case name == "":
		name = p.DSO
	}
	if p.Off != 0 {
		name += fmt.Sprintf("+0x%x", p.Off)
	}
	if strings.HasPrefix(p.DSO, "[") && p.DSO != "[kernel.kallsyms]" {
		name += " " + p.DSO
	}
	return name
}

// changes says which change to the code of an instruction comes next.
func (v *server) changes(s *step, text *kcore.Text, it *item, size int) {
	lo, _ := text.Epochs(it.time)
	lo = max(lo, it.block.Span.From)
	if it.block.Span.Until != event.MaxEpoch {
		lo = min(lo, it.block.Span.Until-1)
	}
	for _, i := range text.Between(it.addr, size, lo, event.MaxEpoch, nil) {
		p := text.Poke(i)
		if p.Mark() {
			continue
		}
		in := int64(p.Time - it.time.Lo)
		s.Change = &i
		if v.rec.Timed {
			s.In = &in
		}
		return
	}
}

// noteStep tells of what lies between instructions.
func (v *server) noteStep(s *step, n *decoder.Note) {
	if n.Poke >= 0 && (n.Kind == decoder.NoteTrap || n.Kind == decoder.NoteCut) {
		s.Poke = &n.Poke
	}
	switch n.Kind {
	case decoder.NoteGap:
		s.Kind, s.What = "gap", clean(n.Gap.Error())
	case decoder.NoteTrap:
		s.Kind, s.What, s.Verdict = "trap", "breakpoint exception, "+n.Trap.String(), n.Verdict.String()
	case decoder.NoteCut:
		s.Kind, s.What, s.Verdict = "cut", "the change took effect here", n.Verdict.String()
		if n.Verdict == decoder.Ambiguous {
			s.What = "the change took effect here, or elsewhere"
		}
		if n.Poke < 0 {
			s.What = "it is open which outcomes belong behind this target"
		}
	case decoder.NoteTrackOff:
		s.Kind, s.What = "off", "tracing went off"
	case decoder.NoteTrackOn:
		s.Kind, s.What = "on", "tracing came on"
	default:
		s.Kind, s.What = "event", n.Event.Kind.String()
		if d := n.Event.Detail.String(); d != "" {
			s.What += " " + d
		}
		if n.Event.HasIP() {
			s.What += fmt.Sprintf(" to %x", n.Event.IP)
		}
	}
}

// stepsCall is the command that prints the steps.
func (v *server) stepsCall(st *decoder.Stream, list []item) string {
	args := []string{"--level", "insn"}
	switch {
	case st.CPU >= 0:
		args = append(args, "--cpu", fmt.Sprint(st.CPU))
	case st.ID != "":
		args = append(args, "--id", st.ID)
	}
	if v.rec.Timed && len(list) > 0 {
		args = append(args, "--time", v.rec.span(v.rec.axis(&list[0]), v.rec.axis(&list[len(list)-1])))
	}
	return v.call("flow", args...)
}

// span renders two moments as --time reads them.
func (r *recording) span(from, until uint64) string {
	sec := func(t uint64) string {
		t += r.base
		return fmt.Sprintf("%d.%09d", t/1e9, t%1e9)
	}
	return sec(from) + "," + sec(until)
}
