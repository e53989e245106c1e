package perfetto

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// Tags of calls (calls.Call.Tag).
const (
	tagHeld    = 1 // it begins once it took long enough
	tagWritten = 2
)

// thread returns the thread whose call c is, nil if the call is not wanted.
func (k *Sink) thread(c *calls.Call) *thread {
	if k.o.Depth > 0 && c.Depth >= k.o.Depth || k.o.Wants != nil && !k.o.Wants(c) {
		return nil
	}
	return k.threadOf(c.Stream, c.TID, c.Comm)
}

// threadOf returns a thread that runs on a stream.
func (k *Sink) threadOf(st *decoder.Stream, tid int32, comm string) *thread {
	if t := k.recent[st.Index]; t != nil && t.key.tid == tid {
		return t // of those that are not known each stream has its own
	}
	key := threadKey{tid, -1}
	if tid <= 0 {
		key.stream = st.Index
	}
	t := k.threads[key]
	if t == nil {
		t = k.newThread(key, st, comm)
	}
	k.recent[st.Index] = t
	return t
}

// newThread makes a thread, which was first seen on a stream and had a name then, and describes its track.
func (k *Sink) newThread(key threadKey, st *decoder.Stream, comm string) *thread {
	t := &thread{key: key}
	k.threads[key] = t
	name := taskName(key.tid, comm)
	if key.tid <= 0 {
		name = fmt.Sprintf("%s, %s", st.Name, map[bool]string{true: "idle", false: "thread not known"}[key.tid == 0])
	}
	t.track = firstTask + k.tracks
	t.seq = k.w.begin(t.track)
	k.tracks++
	k.w.describe(t.seq, t.track, allThreads, name, "")
	t.slices = newSlices(t.seq)
	return t
}

// begins takes a call that begins.
func (k *Sink) begins(c *calls.Call) {
	if k.o.Until != 0 && c.Begin.Lo > k.o.Until {
		return
	}
	t := k.thread(c)
	if t == nil {
		return
	}
	if k.o.Shortest == 0 && k.o.From == 0 {
		k.beginsNow(t, c)
		return
	}
	c.Tag = tagHeld
	t.held = append(t.held, c)
	k.release(t, c.Begin.Likely(), c.Begin.Hi)
}

// release writes the calls that have lasted long enough, where until, the last moment that
// they may have lasted to, lies in the time that is wanted.
func (k *Sink) release(t *thread, now, until uint64) {
	n := 0
	for ; until >= k.o.From && n < len(t.held) && now >= t.held[n].Begin.Likely()+k.o.Shortest; n++ {
		k.beginsNow(t, t.held[n])
	}
	if n > 0 {
		t.held = append(t.held[:0], t.held[n:]...)
	}
}

// beginsNow writes the beginning of a call.
func (k *Sink) beginsNow(t *thread, c *calls.Call) {
	c.Tag = tagWritten
	t.at = max(t.at, c.Begin.Likely())
	named := &k.named[c.Stream.Index]
	if id := named.find(c.Function, t.seq); id != 0 {
		k.w.sliceBegins(&t.slices, t.at, id)
		return
	}
	k.names(t, named, c.Function, c.Sym, c.Addr)
}

// names writes the beginning of a call of a function, which the sequence of t may have no number for.
func (k *Sink) names(t *thread, named *nameCache, function int, sym string, addr uint64) {
	if sym == "" {
		sym = fmt.Sprintf("%#x", addr)
	}
	k.w.emit(t.seq, &trackEvent{kind: sliceBegin, time: t.at, name: sym, track: t.track})
	named.keep(function, t.seq, t.seq.names[sym])
}

// ends takes a call that ends.
func (k *Sink) ends(c *calls.Call) {
	if c.Tag == 0 {
		return
	}
	t := k.thread(c)
	now := c.End.Likely()
	if c.Ended == calls.AtEnd {
		now = max(t.at, c.End.Lo)
	}
	if len(t.held) > 0 {
		if k.release(t, now, c.End.Hi); c.Tag == tagHeld {
			t.held = t.held[:len(t.held)-1]
			return
		}
	}
	t.at = max(t.at, now)
	k.w.sliceEnds(&t.slices, t.at, c.Insns, c.Verdict, c.Ended)
}

// Close ends what is open, and writes the changes to the code.
func (k *Sink) Close() error {
	if !k.begun {
		k.begin()
	}
	k.tree.Close()
	k.joins()
	k.ended = true
	if k.o.Counted != nil {
		k.o.Counted(k.counted)
	}
	for i := range k.cpus {
		c := &k.cpus[i]
		k.stops(i, k.shown[i].at)
		if c.ambiguous {
			k.happens(i, trackAmbiguous, trackEvent{kind: sliceEnd, time: k.shown[i].at})
		}
	}
	k.pokes()
	k.w.flush()
	return k.w.err
}

// pokes writes the changes to the code. For each CPU an arrow leads from its last execution of
// the old code to the change, and one from there to its first of the new.
func (k *Sink) pokes() {
	crossed := k.o.Crossed
	if crossed == nil {
		crossed = func(int) []Crossing { return nil }
	}
	k.w.describe(k.main, pokes, 0, "changes to the code", "")
	for p := range k.s.Pokes() {
		if !k.o.in(p.Time) {
			continue
		}
		e := trackEvent{kind: instant, time: p.Time, track: pokes, name: fmt.Sprintf("poke %d %s", p.Index, p.Symbol)}
		e.notes = []note{
			{name: "address", n: p.Addr, addr: true}, textNote("old", fmt.Sprintf("%x", p.Old)),
			textNote("new", fmt.Sprintf("%x", p.New)), textNote("kind", p.Kind.String()),
		}
		for _, c := range crossed(p.Index) {
			if c.Old.N == 0 && c.New.N == 0 {
				continue // traps alone
			}
			flow := uint64(p.Index)*uint64(len(k.cpus)) + uint64(c.Stream) + 1
			e.flows = append(e.flows, flow)
			if c.Old.N > 0 {
				k.crossed(&c, flow, "last old", c.Old.Last)
			}
			if c.New.N > 0 {
				k.crossed(&c, flow, "first new", c.New.First)
			}
		}
		k.w.emit(k.main, &e)
	}
}

// crossed writes one end of an arrow.
func (k *Sink) crossed(c *Crossing, flow uint64, name string, x report.Sighting) {
	track := k.on(c.Stream, trackCrossings)
	k.w.emit(k.shown[c.Stream].seq, &trackEvent{
		kind: instant, time: x.Time.Likely(), track: track, name: name, flows: []uint64{flow},
		notes: []note{textNote("verdict", x.Verdict.String())},
	})
}
