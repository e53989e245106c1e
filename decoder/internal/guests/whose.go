package guests

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/inject"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Parts are the parts of streams: of the host, and of each guest.
type Parts struct {
	tasks *process.Tasks
	hosts []*stream.Stream
	list  []inject.Guest
	vmcs  map[uint64]int32 // the process of a VMCS, -1: of several
}

// Split has each of streams, which trace CPUs of a host, give only what the host
// executed, and what guests did of which nothing is known. Of returns what those did that
// are given, and those of which host has records.
func Split(host *recording.Recording, streams []*stream.Stream, given []inject.Guest) (*Parts, error) {
	p := &Parts{tasks: host.Processes.Tasks, hosts: slices.Clone(streams), list: slices.Clone(given), vmcs: map[uint64]int32{}}
	for i, g := range given {
		if slices.ContainsFunc(given[:i], func(o inject.Guest) bool { return o.PID == g.PID }) {
			return nil, fmt.Errorf("%d: the process has a guest already", g.PID)
		}
	}
	by, left := host.Inside.All()
	if left > 0 && len(given) == 0 {
		host.Warnf("inject them with perf v6.0 or later, whose ID_INDEX records name the process, or give what the guest recorded with --guest PID=FILE",
			"%s+0x0: TEXT_POKE: %s of virtual machines, and nothing says of which: left out", host.Name, plural.Count(left, "record"))
	}
	for _, pid := range slices.Sorted(maps.Keys(by)) {
		if !slices.ContainsFunc(given, func(g inject.Guest) bool { return g.PID == pid }) {
			p.list = append(p.list, inject.Guest{PID: pid, HasOffset: true})
		}
	}
	if len(p.list) == 0 {
		return p, nil
	}
	for _, st := range p.hosts {
		if st.Protocol != stream.IntelPT {
			return nil, fmt.Errorf("%d: %s: the trace is %s's, and only Intel PT's tells of guests", p.list[0].PID, st.Name, st.Protocol.Name)
		}
	}
	for _, st := range p.hosts {
		p.survey(st)
	}
	for _, st := range p.hosts {
		st.Part = p.part(st, Host)
	}
	return p, nil
}

// part returns what takes the part of own out of st's events.
func (p *Parts) part(st *stream.Stream, own Machine) func(stream.Decoder) stream.Decoder {
	return func(d stream.Decoder) stream.Decoder {
		return NewPart(d, own, func(e *event.Event, vmcs uint64) Machine { return p.machine(st, e, vmcs) })
	}
}

// Guests returns the guests.
func (p *Parts) Guests() []inject.Guest { return p.list }

// Of returns new streams of guest i, in the order of the host's. They have not begun.
func (p *Parts) Of(i int) (list []*stream.Stream) {
	for _, st := range p.hosts {
		list = append(list, st.PartOf(p.list[i].PID, p.part(st, Machine(i+1))))
	}
	return list
}

// survey notes which process each VMCS is of, where the records are sure of it.
func (p *Parts) survey(st *stream.Stream) {
	var vmcs uint64
	for e := range stream.Events(st, true) {
		switch {
		case e.Detail == event.DetailVMCS && e.Kind == event.Context:
			vmcs = e.Value
		case e.Flags&event.FlagCR3 != 0 && e.Value2&1 != 0 && vmcs != 0:
			pid, sure := p.process(st, e)
			if !sure {
				break
			}
			if was, ok := p.vmcs[vmcs]; ok && was != pid {
				pid = -1
			}
			p.vmcs[vmcs] = pid
		}
	}
}

// process returns the process that ran where e was, by the records.
func (p *Parts) process(st *stream.Stream, e *event.Event) (pid int32, sure bool) {
	if st.CPU < 0 {
		return p.tasks.PID(st.TID)
	}
	t, _, ok := p.tasks.On(st.CPU, e.Time.Lo)
	return t.PID, ok && t.PID > 0 && p.tasks.Alone(st.CPU, e.Time)
}

// machine returns which guest runs by e: that of the process that ran, else that of
// the VMCS. Where nothing is known of either, it is the only guest that there is.
func (p *Parts) machine(st *stream.Stream, e *event.Event, vmcs uint64) Machine {
	pid, sure := p.process(st, e)
	if !sure {
		own, known := p.vmcs[vmcs]
		if _, any := p.tasks.Ever(0); !known && !any && len(p.list) == 1 {
			return 1
		}
		pid = own
	}
	if i := slices.IndexFunc(p.list, func(g inject.Guest) bool { return g.PID == pid }); i >= 0 {
		return Machine(i + 1)
	}
	return Other
}

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
