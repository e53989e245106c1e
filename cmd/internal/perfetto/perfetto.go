// Package perfetto writes flow as a Perfetto trace: TrackEvent packets, one behind the other,
// as the flow comes (docs/exports.md). It holds the calls in progress and the names, and no
// more. The format is Perfetto's protos/perfetto/trace/trace.proto.
//
// Start reading in this file; threads.go and counters.go have the tracks, packet.go the bytes.
package perfetto

import (
	"fmt"
	"io"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// Options bound what is written.
type Options struct {
	Depth    int                       // calls deeper than this are left out; 0: none
	Shortest uint64                    // calls that took less are left out, ns
	Wants    func(*calls.Call) bool    // whether a call is wanted, by thread and function; nil: all
	Crossed  func(poke int) []Crossing // how CPUs crossed a poke, asked at the end; nil: left out

	// Counted, where set, is told at the end of what there was, as counts.Options.Bare has it.
	Counted func(Counts)

	// From and Until bound what is written, ns; Until 0: no end. A call of which a part lies
	// between them is written whole.
	From, Until uint64
}

// Counts is how much flow there was.
type Counts struct{ Instructions, Ambiguous, Gaps uint64 }

// in reports whether a time is wanted, ns.
func (o *Options) in(time uint64) bool { return time >= o.From && (o.Until == 0 || time <= o.Until) }

// holds reports whether a moment may be a time that is wanted.
func (o *Options) holds(t event.Time) bool {
	return t.Hi >= o.From && (o.Until == 0 || t.Lo <= o.Until)
}

// Crossing is how a CPU crossed a poke.
type Crossing = report.Crossing

// Sink writes a session's flow. It takes the flow of all streams in order of time.
type Sink struct {
	o       Options
	s       *decoder.Session
	tree    *calls.Tree
	order   inOrder
	cpus    []cpu // by stream
	begun   bool
	ended   bool // the flow
	script  script
	counted Counts

	// What follows is of the goroutine that writes the script, where there is one, up to joins.
	w       writer
	main    *sequence   // of the tracks that are no CPU's and no thread's
	shown   []cpuTracks // by stream
	threads map[threadKey]*thread
	recent  []*thread   // by stream: that of its newest call
	tracks  uint64      // of threads
	named   []nameCache // by stream
}

// The first numbers of tracks: of a CPU, of a thread.
const (
	allCPUs    = 1
	allThreads = 2
	pokes      = 3
	firstCPU   = 16 // and kinds for each
	kinds      = 8
	firstTask  = 1 << 32
)

// The tracks of a CPU.
const (
	trackRuns = iota
	trackTraps
	trackGaps
	trackAmbiguous
	trackEvents
	trackCrossings
	trackSpeed
	trackCycles
)

var trackNames = [kinds]string{"runs", "traps", "gaps", "ambiguous", "events", "changes to the code", "instructions per µs", "instructions per cycle"}

// trackUnits are the units of counters.
var trackUnits = [kinds]string{trackSpeed: "insn/µs", trackCycles: "insn/cycle"}

// cpu is what a stream does.
type cpu struct {
	tid       int32  // that runs
	comm      string // its name
	running   bool   // its slice is open
	until     uint64 // ns: another thread may run from then on, or it has another name
	ambiguous bool   // its slice is open
	insns     uint64 // since from
	from      uint64 // ns; 0: not known
	cycles    cycles // of its core
}

// cpuTracks is what was written of a stream.
type cpuTracks struct {
	seq       *sequence
	described [kinds]bool
	at        uint64 // ns: of its newest event
}

// threadKey names a thread; those that are not known are a stream's own.
type threadKey struct {
	tid    int32
	stream int
}

// thread is a thread's calls.
type thread struct {
	key    threadKey
	seq    *sequence
	track  uint64
	slices slices
	at     uint64        // ns: of its newest event
	held   []*calls.Call // begun, and not written yet
}

// New returns a sink that writes to w.
func New(s *decoder.Session, w io.Writer, o Options) *Sink {
	k := &Sink{o: o, s: s, w: writer{w: w, notes: newCallNotes()}, threads: map[threadKey]*thread{}, cpus: make([]cpu, len(s.Streams())), shown: make([]cpuTracks, len(s.Streams())), recent: make([]*thread, len(s.Streams())), named: make([]nameCache, len(s.Streams()))}
	k.tree = &calls.Tree{Session: s, OnBegin: k.begins, OnEnd: k.ends, Brief: o.Shortest == 0 && o.From == 0}
	if k.tree.Brief && o.Until == 0 && o.Depth == 0 && o.Wants == nil {
		k.tree.OnSteps = k.takes
	}
	return k
}

// begin describes the tracks that all others lie in.
func (k *Sink) begin() {
	k.begun = true
	k.main = k.w.begin(0)
	k.w.describe(k.main, allCPUs, 0, "CPUs", "")
	k.w.describe(k.main, allThreads, 0, "Threads", "")
}

// on returns a track of a stream, and describes it first if it is new.
func (k *Sink) on(stream, kind int) uint64 {
	c := &k.shown[stream]
	uuid := uint64(firstCPU + stream*kinds + kind)
	if c.seq == nil {
		c.seq = k.w.begin(0)
	}
	if !c.described[kind] {
		c.described[kind] = true
		k.w.describe(c.seq, uuid, allCPUs, k.s.Streams()[stream].Name+" "+trackNames[kind], trackUnits[kind])
	}
	return uuid
}

// happens takes an event of a stream.
func (k *Sink) happens(stream, kind int, e trackEvent) {
	k.catchUp()
	if k.tree.OnSteps == nil || k.ended {
		k.shows(stream, kind, &e)
		return
	}
	p := k.toPage()
	p.lines = append(p.lines, line{st: k.s.Streams()[stream], track: kind})
	p.events = append(p.events, e)
	k.turns()
}

// shows writes an event of a stream; its time is no earlier than that of the one before.
func (k *Sink) shows(stream, kind int, e *trackEvent) {
	track := k.on(stream, kind)
	c := &k.shown[stream]
	e.track, e.time = track, max(e.time, c.at)
	c.at = e.time
	k.w.emit(c.seq, e)
}

// Flow writes b.
func (k *Sink) Flow(b *decoder.Batch) error {
	if b.Part != 0 {
		return nil
	}
	if !k.begun {
		k.begin()
	}
	c := &k.cpus[b.Stream]
	k.order.goes(b)
	stamp, in := ^uint32(0), false
	for i, n := 0, 0; ; {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			k.order.at = [2]int{i, n}
			k.note(b.Stream, &b.Notes[n])
		}
		if i == len(b.Ranges) {
			k.order.at = [2]int{i, n}
			break
		}
		x := &b.Ranges[i]
		if x.Stamp != stamp {
			stamp = x.Stamp
			k.order.at = [2]int{i, n}
			in = k.o.holds(b.Stamps[stamp].Time)
			k.moment(b.Stream, &b.Stamps[stamp], in)
		}
		if is := in && x.Verdict == decoder.Ambiguous; is != c.ambiguous {
			c.ambiguous = is
			k.order.at = [2]int{i, n}
			k.doubt(b.Stream, x, b.Stamps[stamp].Time)
		}
		end := len(b.Ranges)
		if n < len(b.Notes) {
			end = b.Notes[n].At
		}
		insns, more := alike(b.Ranges[i:end])
		if c.insns += insns; x.Verdict == decoder.Ambiguous {
			k.counted.Ambiguous += insns
		} else {
			k.counted.Instructions += insns
		}
		i += more
	}
	k.catchUp()
	if k.order.batch = nil; k.order.err != nil {
		return k.order.err
	}
	if k.tree.OnSteps != nil && !k.script.failed.Load() {
		return nil // nobody else may look at the writer
	}
	return k.w.err
}

// alike returns how many of list, which is not empty, have the first one's stamp, and are ambiguous or
// not as that is, and how many instructions these are. It stays out of line, where all it needs is in registers.
//
//go:noinline
func alike(list []decoder.BatchRange) (insns uint64, n int) {
	stamp, doubt := list[0].Stamp, list[0].Verdict == decoder.Ambiguous
	for ; len(list)-n >= 4; n += 4 { // as most are, four by four
		q := list[n : n+4 : n+4]
		if (q[0].Stamp^stamp)|(q[1].Stamp^stamp)|(q[2].Stamp^stamp)|(q[3].Stamp^stamp) != 0 || doubt ||
			q[0].Verdict|q[1].Verdict|q[2].Verdict|q[3].Verdict != decoder.Certain {
			break
		}
		insns += uint64(q[0].N) + uint64(q[1].N) + uint64(q[2].N) + uint64(q[3].N)
	}
	for i := n; i < len(list); i++ {
		x := &list[i]
		if x.Stamp != stamp || (x.Verdict == decoder.Ambiguous) != doubt {
			return insns, i
		}
		insns += uint64(x.N)
	}
	return insns, len(list)
}

// moment takes the time on a stream: who runs, and how fast. in says whether it is wanted.
func (k *Sink) moment(stream int, s *decoder.Stamp, in bool) {
	c, t, now := &k.cpus[stream], s.Time, s.Time.Likely()
	switch {
	case t.Lo == 0:
		return
	case !in: // there is no script: it has all times
		k.stops(stream, min(now, max(k.o.Until, k.shown[stream].at)))
		c.from = 0 // the counters begin anew
		return
	}
	k.speeds(stream, s)
	if c.running && now < c.until {
		return
	}
	tid, comm, until, ok := k.s.Running(stream, now)
	if c.until = until; !ok {
		tid, comm = -1, ""
	}
	if c.running && tid == c.tid && comm == c.comm {
		return
	}
	k.stops(stream, now)
	if c.tid, c.comm = tid, comm; ok {
		k.happens(stream, trackRuns, trackEvent{kind: sliceBegin, time: now, name: taskName(tid, comm)})
		k.cpus[stream].running = true
	}
}

// stops ends the slice of what runs.
func (k *Sink) stops(stream int, now uint64) {
	if c := &k.cpus[stream]; c.running {
		c.running = false
		k.happens(stream, trackRuns, trackEvent{kind: sliceEnd, time: now})
	}
}

// taskName names a thread.
func taskName(tid int32, comm string) string { return fmt.Sprintf("%s %d", comm, tid) }

// doubt takes the first range that is ambiguous, or the first one that is not.
func (k *Sink) doubt(stream int, x *decoder.BatchRange, t event.Time) {
	e := trackEvent{kind: sliceEnd, time: t.Likely()}
	if k.cpus[stream].ambiguous {
		e.kind, e.name = sliceBegin, "ambiguous"
		e.notes = []note{{name: "from", n: x.Block.Addr, addr: true}}
	}
	k.happens(stream, trackAmbiguous, e)
}

// note takes what lies between ranges.
func (k *Sink) note(stream int, n *decoder.Note) {
	t := n.Event.Time
	if n.Kind == decoder.NoteGap {
		t = n.Gap.Time
		k.counted.Gaps++
	}
	if !k.o.holds(t) {
		return
	}
	switch n.Kind {
	case decoder.NoteGap:
		g := &n.Gap
		k.cpus[stream].from = 0
		e := trackEvent{kind: instant, time: g.Time.Likely(), name: g.Reason.String()}
		e.notes = []note{textNote("what", g.What), {name: "offset", n: uint64(g.Off)}, {name: "end", n: uint64(g.End)}, {name: "ip", n: g.IP, addr: true}}
		k.happens(stream, trackGaps, e)
	case decoder.NoteTrap:
		e := trackEvent{kind: instant, time: n.Event.Time.Likely(), name: n.Trap.String()}
		e.notes = []note{{name: "at", n: n.Event.From, addr: true}, textNote("verdict", n.Verdict.String())}
		if n.Poke >= 0 {
			e.notes = append(e.notes, note{name: "poke", n: uint64(n.Poke)})
		}
		k.happens(stream, trackTraps, e)
	case decoder.NoteEvent:
		k.payload(stream, &n.Event)
	case decoder.NoteTrackOff:
		k.cpus[stream].cycles.reach(k.s.Streams()[stream], n.Event.Off)
	case decoder.NoteTrackOn:
		k.cpus[stream].cycles.skips(n.Event.Off)
	}
}

// payload writes PTWRITE and what tells of power.
func (k *Sink) payload(stream int, x *event.Event) {
	switch x.Detail {
	case event.DetailPTWrite, event.DetailExStop, event.DetailMWait, event.DetailPwrEnter, event.DetailPwrExit, event.DetailCBR,
		event.DetailInstrumentation, event.DetailSoftware:
		e := trackEvent{kind: instant, time: x.Time.Likely(), name: x.Detail.String()}
		e.notes = []note{{name: "value", n: x.Value}, {name: "value2", n: x.Value2}}
		k.happens(stream, trackEvents, e)
	}
}
