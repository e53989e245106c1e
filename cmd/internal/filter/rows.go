package filter

import (
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/machines"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Query has q give what f asks for: the streams, the time, and by Sink the rest.
func (f *Filter) Query(q *decoder.Query) {
	q.Streams, q.From, q.Until, q.Sift = f.Streams, f.From, f.Until, f.Sink
	q.Bounds = q.Bounds || f.From != 0 || f.Until != 0
}

// Rows has o let only those rows pass that f asks for.
func (f *Filter) Rows(o *rows.Options) {
	o.From, o.Until, o.First, o.Syms = f.From, f.Until, f.First, f.exact
	if f.tests() {
		o.Where = f.passes
	}
}

// passes reports whether r passes. The time and exact names are the maker's business.
func (f *Filter) passes(n *rows.Names, r *rows.Row) bool {
	switch {
	case f.settled != nil && !f.settled[r.Verdict],
		f.flags != nil && !f.flags.fit(r.Transfer.String()),
		f.depths != nil && !f.depths.has(int64(r.Depth)):
		return false
	}
	if f.tids != nil || f.comms != nil {
		tid, comm := n.Thread(r)
		if f.tids != nil && !f.tids.has(int64(tid)) || f.comms != nil && !(tid >= 0 && f.comms.fit(comm)) {
			return false
		}
	}
	leads := r.HasAddr && (r.Kind == rows.KindBranch || r.Kind == rows.KindTrap)
	if f.addrs != nil && !f.addrs.touches(r.IP, f.length(r)) && !(leads && f.addrs.touches(r.Addr, 1)) {
		return false
	}
	if f.pokes != nil && (r.Stream.Machine != nil || !(r.Poke >= 0 && f.pokes.numbers.has(int64(r.Poke))) && !f.pokes.sites.touches(r.IP, f.length(r))) {
		return false
	}
	if f.syms != nil && f.exact == nil && !f.within(n, r, r.IP) && !(leads && f.within(n, r, r.Addr)) {
		return false
	}
	return f.dsos == nil || f.inFile(n, r, r.IP) || leads && f.inFile(n, r, r.Addr)
}

// length returns how many bytes the code of r has from its address on.
func (f *Filter) length(r *rows.Row) uint64 {
	if r.Kind == rows.KindBlock {
		return r.Addr - r.IP
	}
	return uint64(r.Len)
}

// within reports whether addr, an address of r, is in one of the functions asked for.
func (f *Filter) within(n *rows.Names, r *rows.Row, addr uint64) bool {
	return f.syms.holds(r.Stream.Machine == nil && f.s.Kernel(addr), addr, func() string { return n.At(r, addr).Sym })
}

// inFile reports whether addr, an address of r, is in one of the files asked for.
func (f *Filter) inFile(n *rows.Names, r *rows.Row, addr uint64) bool {
	return f.wantsFile(n.At(r, addr).DSO)
}

// wantsFile reports whether a file is one of those asked for.
func (f *Filter) wantsFile(file string) bool {
	return file != "" && slices.ContainsFunc(f.dsos, func(w string) bool { return fitsFile(w, file) })
}

// Change reports whether a change to n bytes at addr passes by its time, by its place, and
// by sym, the function that it is in. It is of the kernel of a machine: the host, or a guest.
// It passes by its time if it may have been made in the time asked for.
func (f *Filter) Change(of *decoder.Session, addr, n uint64, t event.Time, sym string) bool {
	switch {
	case !f.takesTime(t), f.changes.Hi != 0 && (t.Hi < f.changes.Lo || t.Lo > f.changes.Hi),
		f.addrs != nil && !f.addrs.touches(addr, n):
		return false
	}
	return f.syms == nil || f.syms.holds(of == f.s, addr, func() string { return sym })
}

// Call reports whether a call passes by the thread that makes it, and by the function at addr
// that it is of, called sym, of a file. It runs on the stream with the index stream.
func (f *Filter) Call(stream int, tid int32, comm string, addr uint64, sym, file string) bool {
	switch {
	case f.tids != nil && !f.tids.has(int64(tid)), f.comms != nil && !(tid >= 0 && f.comms.fit(comm)),
		f.dsos != nil && !f.wantsFile(file), f.addrs != nil && !f.starts.touches(addr, 1):
		return false
	}
	return f.syms == nil || f.syms.holds(!f.ofGuest(stream) && f.s.Kernel(addr), addr, func() string { return sym })
}

// ofGuest reports whether a stream is what a virtual machine executed.
func (f *Filter) ofGuest(stream int) bool { return f.machine(stream) != f.s }

// machine returns the machine that executed a stream.
func (f *Filter) machine(stream int) *decoder.Session {
	return machines.Of(f.s, f.s.Streams()[stream].Guest)
}

// Sink returns a sink that hands on to to what passes of each batch, range by range. A
// range passes by its first address; a gap passes by its time alone. It is to itself where all passes.
// Depths, kinds of branches and First are of rows only. A sink with a Restart keeps it.
func (f *Filter) Sink(to decoder.Sink) decoder.Sink {
	if f.From == 0 && f.Until == 0 && f.syms == nil && !f.tests() {
		return to
	}
	k := &sink{f: f, to: to}
	if r, ok := to.(decoder.Restarter); ok {
		return &restartable{k, r.Restart}
	}
	return k
}

// sink lets through what passes.
type sink struct {
	f   *Filter
	to  decoder.Sink
	out decoder.Batch
}

// restartable is a sink whose target may begin anew.
type restartable struct {
	*sink
	restart func() bool
}

// Restart begins anew (decoder.Restarter).
func (k *restartable) Restart() bool { return k.restart() }

// Flow hands on what passes of b.
func (k *sink) Flow(b *decoder.Batch) error {
	k.out.Reset()
	k.out.Stream = b.Stream
	stamp, n := -1, 0 // of b: the last that is in out
	for i := 0; i <= len(b.Ranges); i++ {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			note := b.Notes[n]
			if note.Kind == decoder.NoteGap && !k.f.takesTime(note.Gap.Time) || note.Kind != decoder.NoteGap && !k.takesNote(b, &note) {
				continue
			}
			note.At = len(k.out.Ranges)
			k.out.Notes = append(k.out.Notes, note)
		}
		if i < len(b.Ranges) && k.takesRange(b, &b.Ranges[i]) {
			r := b.Ranges[i]
			if int(r.Stamp) != stamp {
				stamp = int(r.Stamp)
				k.out.Stamps = append(k.out.Stamps, b.Stamps[stamp])
			}
			r.Stamp = uint32(len(k.out.Stamps) - 1)
			k.out.Ranges = append(k.out.Ranges, r)
		}
	}
	if len(k.out.Ranges)+len(k.out.Notes) == 0 {
		return nil
	}
	return k.to.Flow(&k.out)
}

// takesRange reports whether a range passes.
func (k *sink) takesRange(b *decoder.Batch, x *decoder.BatchRange) bool {
	f, t := k.f, b.Stamps[x.Stamp].Time
	if !f.takesTime(t) || f.settled != nil && !f.settled[x.Verdict] || !k.takesThread(b.Stream, t.Stated()) {
		return false
	}
	return k.takesPlace(b.Stream, x.Block.Space, x.Block.Addr, x.End()-x.Block.Addr, t.Likely())
}

// takesNote reports whether a note that is no gap passes: it has an address or not.
func (k *sink) takesNote(b *decoder.Batch, n *decoder.Note) bool {
	f, t := k.f, n.Event.Time
	if !f.takesTime(t) || n.Kind == decoder.NoteTrap && f.settled != nil && !f.settled[n.Verdict] || !k.takesThread(b.Stream, t.Stated()) {
		return false
	}
	if n.Kind == decoder.NoteTrap && f.pokes != nil && !f.ofGuest(b.Stream) && n.Poke >= 0 && f.pokes.numbers.has(int64(n.Poke)) {
		return true
	}
	ip := n.Event.From
	if ip == 0 {
		ip = n.Event.IP
	}
	return k.takesPlace(b.Stream, 0, ip, 1, t.Likely())
}

// takesTime reports whether a moment passes.
func (f *Filter) takesTime(t event.Time) bool {
	return t.Hi >= f.From && (f.Until == 0 || t.Lo <= f.Until)
}

// takesThread reports whether the thread that ran on a stream at a time, ns, passes.
func (k *sink) takesThread(stream int, time uint64) bool {
	f := k.f
	if f.tids == nil && f.comms == nil {
		return true
	}
	tid, comm, _, ok := f.s.Running(stream, time)
	return ok && (f.tids == nil || f.tids.has(int64(tid))) && (f.comms == nil || f.comms.fit(comm))
}

// takesPlace reports whether n bytes at addr pass, in an address space at a time, ns.
func (k *sink) takesPlace(stream int, space uint32, addr, n, time uint64) bool {
	f := k.f
	if f.addrs != nil && !f.addrs.touches(addr, n) || f.pokes != nil && (f.ofGuest(stream) || !f.pokes.sites.touches(addr, n)) {
		return false
	}
	if f.syms == nil && f.dsos == nil {
		return true
	}
	of := f.machine(stream)
	sym, _, file, ok := of.Symbol(space, addr, time)
	if f.dsos != nil && !(ok && f.wantsFile(file)) {
		return false
	}
	return f.syms == nil || f.syms.holds(of == f.s && of.Kernel(addr), addr, func() string { return sym })
}
