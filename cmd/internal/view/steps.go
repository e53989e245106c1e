package view

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/cmd/internal/machines"
	"github.com/ptdecode/ptdecode/cmd/internal/marks"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// step is an instruction as executed, or what lies between two.
type step struct {
	At      string  `json:"at"`   // names the step: items.Key
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
	st, t, err := r.instant(v)
	if err != nil {
		return nil, err
	}
	w := &items.Walk{}
	for name, to := range map[string]*int{"before": &w.Before, "after": &w.After} {
		n, err := r.number(name, 50, maxSteps)
		if err != nil {
			return nil, err
		}
		*to = int(n)
	}
	w.After = max(1, w.After)
	at, kind := r.query.Get("at"), r.query.Get("kind")
	if !slices.Contains([]string{"", "trap", "gap", "unsure"}, kind) {
		return nil, badf("kind=%q: need trap, gap or unsure", clean(kind))
	}
	w.Anchor = func(it *items.Item) bool { return v.rec.axis(it) >= t && fits(it, kind) }
	if at != "" {
		k, err := items.ParseKey(at)
		if err != nil {
			return nil, badf("at: %s", clean(err.Error()))
		}
		w.Anchor = func(it *items.Item) bool { return it.Key == k }
	}
	if err := v.walk(r, st, t, w); err != nil {
		return nil, err
	}
	list, before := w.Items()
	out := stepsAnswer{Stream: st.Index, Anchor: before, Found: w.Found, Steps: v.named(st, list), Command: v.stepsCall(st, list)}
	return &out, nil
}

// fits reports whether an item is a trap, a gap, an instruction that is unsure, or any, "".
func fits(it *items.Item, kind string) bool {
	return kind == "" || kind == "unsure" && unsure(it) || it.Note != nil && (kind == "trap" && it.Note.Kind == decoder.NoteTrap || kind == "gap" && it.Note.Kind == decoder.NoteGap)
}

// unsure reports whether an item is an instruction that is ambiguous or unconfirmed.
func unsure(it *items.Item) bool { return it.Note == nil && doubtful(it.Verdict) }

// doubtful reports whether a verdict is that an instruction is ambiguous or unconfirmed.
func doubtful(v decoder.Verdict) bool { return v >= decoder.Unconfirmed }

// axis returns where on the axis an item lies.
func (r *recording) axis(it *items.Item) uint64 {
	if r.Timed {
		return r.rel(it.Time.Lo)
	}
	return uint64(max(0, it.Key.Off))
}

// walk decodes as much before t as w wants.
func (v *server) walk(r *request, st *decoder.Stream, t uint64, w *items.Walk) error {
	for back := uint64(0); ; back = farther(back) {
		q, all := v.since(st, t, back)
		w.Restart()
		if err := v.flow(r, q, w); err != nil {
			return err
		}
		if all || (w.Found || t > v.rec.Until) && w.Had() == w.Before { // nothing is found behind the end
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
func (v *server) named(st *decoder.Stream, list []items.Item) []step {
	streams := items.StreamsOf(v.s)
	names := rows.New(v.s, streams, nil, rows.Options{}, nil).Names()
	out := make([]step, 0, len(list))
	first := marks.Firsts(st.Index, v.pokes.list, v.pokes.decoded())
	for i := range list {
		it := &list[i]
		s := v.step(names, &streams[st.Index], it)
		x := marks.Execution{Addr: it.Addr, At: it.Time.Lo}
		if poke, ok := first[x]; ok && it.Note == nil && st.Guest == 0 {
			s.Poke = &poke
			delete(first, x) // others may have the same moment
		}
		out = append(out, s)
	}
	return out
}

// step makes a step of an item.
func (v *server) step(names *rows.Names, st *rows.Stream, it *items.Item) step {
	row := rows.Row{Stream: st, Time: it.Time, Verdict: it.Verdict, Poke: -1, IP: it.Addr, Span: event.EveryEpoch}
	s := step{At: it.Key.String(), Kind: "insn", Time: v.rec.axis(it), TID: -1, Guest: st.Guest}
	if it.Time.Hi != math.MaxUint64 && v.rec.Timed {
		hi := v.rec.rel(it.Time.Hi)
		s.Until = &hi
	}
	if v.rec.Timed {
		s.TID, s.Comm = names.Thread(&row)
		s.Comm = clean(s.Comm)
	}
	if it.Note != nil {
		v.noteStep(&s, it.Note)
	} else {
		b := it.Block
		row.Kind, row.N, row.Space, row.Mode, row.Span, row.Len = rows.KindInsn, 1, b.Space, b.Mode, b.Span, b.Lens[it.Insn]
		s.Bytes, s.Insn = hexBytes(names.Bytes(&row)), clean(names.Disasm(&row))
		s.Verdict, s.Either = it.Verdict.String(), it.Either
		m := machines.Of(v.s, st.Guest)
		learned, _ := m.Learned()
		s.Learned = b.Space == 0 && items.WasLearned(learned, it.Addr, uint64(row.Len))
		s.Src = sourceOf(names.Lines(&row))
		if b.Space == 0 && b.Mode != isa.ModeUnknown {
			v.changes(&s, m.Text(), it, int(row.Len))
		}
	}
	if it.Addr != 0 {
		s.IP = hex16(it.Addr)
		p := names.At(&row, it.Addr)
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
func (v *server) changes(s *step, text *kcore.Text, it *items.Item, size int) {
	lo, _ := text.Epochs(it.Time)
	lo = max(lo, it.Block.Span.From)
	if it.Block.Span.Until != event.MaxEpoch {
		lo = min(lo, it.Block.Span.Until-1)
	}
	for _, i := range text.Between(it.Addr, size, lo, event.MaxEpoch, nil) {
		p := text.Poke(i)
		if p.Mark() {
			continue
		}
		in := int64(p.Time - it.Time.Lo)
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
			s.What = "the change may have taken effect here, or elsewhere: what follows is one of the codes that fit"
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
func (v *server) stepsCall(st *decoder.Stream, list []items.Item) string {
	args := []string{"--level", "insn", "--notes", "--gaps"} // traps, events and gaps are steps, too
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
