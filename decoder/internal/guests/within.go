package guests

import (
	"fmt"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/inject"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Name is how messages and streams call the guest of a process.
func Name(pid int32) string { return fmt.Sprintf("guest%d", pid) }

// Open reads the recording of guest i, and makes it one of what that machine executed: the
// trace is the host's, and so are the times. offset is what was added to these, ns. They
// may be off by slack, either way.
func (p *Parts) Open(host *recording.Recording, i int, from *recording.Config) (rec *recording.Recording, offset int64, slack uint64, err error) {
	g := &p.list[i]
	if rec, err = read(host, g, from); err != nil {
		return nil, 0, 0, err
	}
	within(rec, host, p.Of(i), g.PID)
	var syms *symbols.Table
	if rec.Beside.Kallsyms != "" {
		if k, err := rec.OpenKallsyms(rec.Beside.Kallsyms); err == nil {
			syms = symbols.New(k, nil, nil)
		}
	}
	clock, err := p.clock(i, rec.Pokes, rec.BreakEntries(syms))
	if err != nil {
		return nil, 0, 0, err
	}
	if offset = g.Offset; !g.HasOffset {
		offset, slack = clock.offset()
	}
	if what, hint := clock.doubt(offset, slack, g.HasOffset); what != "" {
		rec.Warnf(hint, "%s+0x0: clock: %s", rec.Name, what)
	}
	shift(rec, offset)
	return rec, offset, slack, nil
}

// read reads what g recorded: what the call names, else what the host's recording has.
func read(host *recording.Recording, g *inject.Guest, from *recording.Config) (*recording.Recording, error) {
	if g.Recording != "" {
		from.Recording = g.Recording
		return recording.Read(from)
	}
	rec := recording.New(from)
	rec.Meta.Kind, rec.Name = "perf.data", host.Name+" ("+Name(g.PID)+")"
	by, _ := host.Inside.All()
	if in := by[g.PID]; in != nil {
		rec.Pokes, rec.Ksymbols = in.Pokes, in.Ksymbols
		rec.Beside = recording.TextFiles{Kcore: in.Kcore, Kallsyms: in.Kallsyms, Modules: in.Modules}
	}
	return rec, nil
}

// within makes r the recording of a machine on host, of which streams are the part. Of
// the machine's own threads it is not known on which CPU of the host they ran.
func within(r, host *recording.Recording, streams []*stream.Stream, pid int32) {
	r.Streams, r.Meta.Guest, r.Meta.PT = streams, pid, host.Meta.PT
	r.Filters, r.WrittenBy, r.Converts = host.Filters, host.WrittenBy, host.Converts
	r.Processes = process.New("", nil)
	r.Warnings = slices.DeleteFunc(r.Warnings, func(w recording.Warning) bool { return w.NoTrace })
	if !host.Converts {
		for i := range r.Pokes {
			r.Pokes[i].Begin, r.Pokes[i].End = 0, math.MaxUint64
		}
	}
}

// shift adds ns to all times of r's records.
func shift(r *recording.Recording, ns int64) {
	add := func(t *uint64) {
		switch {
		case *t == math.MaxUint64 || *t == 0:
		case ns < 0 && *t < uint64(-ns):
			*t = 0
		case ns > 0 && *t > math.MaxUint64-uint64(ns):
			*t = math.MaxUint64
		default:
			*t += uint64(ns)
		}
	}
	both := func(t *event.Time) { add(&t.Lo); add(&t.Hi) }
	for i := range r.Pokes {
		p := &r.Pokes[i]
		add(&p.Time)
		add(&p.Begin)
		add(&p.End)
	}
	for i := range r.Ksymbols {
		add(&r.Ksymbols[i].Time)
	}
	for i := range r.Lost {
		both(&r.Lost[i])
	}
	if r.Taken != nil {
		both(r.Taken)
	}
	add(&r.CompleteTo)
}
