package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Config is what a Walker is given besides its text.
type Config struct {
	ISA   isa.Decoder
	Rules isa.Rules
	Mode  isa.Mode // the mode until the trace states one
	// ModeBefore says what mode the trace stated last before the segment; it is
	// asked only where the segment itself does not say. nil: Mode.
	ModeBefore func() isa.Mode
	Stream     int // put into batches and gaps

	// Breaks holds the entry addresses of the breakpoint exception's handler
	// (asm_exc_int3 and the like). Without any, an exception is taken as a
	// breakpoint's only if the trace says so.
	Breaks []uint64

	// Space names the address space of user code at a moment. The parameter whose
	// is what was stated last of whose code it is; 0: nothing. That is the CR3, or
	// the Value of a DetailPE that has a context ID or a VMID. If several programs may
	// have run then, sure is false: what is read as the likeliest one's code is
	// ambiguous. nil: there is one address space.
	Space func(t event.Time, whose uint64) (space uint32, sure bool)

	// Kernel is the lowest address that is the kernel's in every address space; 0:
	// isa.UpperHalf.
	Kernel uint64

	// Guests says that the trace tells apart the host and virtual machines, whose
	// text is not known. Else NR bits say nothing: all of it may be in one.
	Guests bool

	// Traced reports whether code at ip, in an address space, is traced, where
	// the trace unit filters by address: a branch to code that is not ends
	// tracing. nil: it does not filter.
	Traced func(space uint32, ip uint64) bool

	// Progress says how far into the segment an offset lies, 0 to 1: where the
	// clock is coarse, the likeliest time is taken in that proportion. nil: half-way.
	Progress func(off int64) float64

	// MaxThreads bounds how many cuts are followed at once; 0: 64. Beyond it the
	// window is given up: the likeliest cut is ambiguous.
	MaxThreads int

	// MaxEvents bounds how many events a window may span; 0: 1 << 16. At the bound
	// its older half is handed out: what the cuts do not share of it is ambiguous.
	// The cuts go on. No more events than that wait for a cut that lags behind.
	MaxEvents int

	// MaxRanges bounds what all cuts of a window hold together, in instructions and
	// ranges; 0: 1 << 19. Notes and stamps count as their size has it. With what
	// comparing them takes, 1 << 19 is about 30 MiB at most. At the bound the older
	// half is handed out, as at MaxEvents.
	MaxRanges int

	// MaxWork bounds what comparing the cuts of a window costs at once, in
	// instructions and notes compared or copied; 0: 1 << 26. Each event pays for some
	// more. At the bound the older half of the window is handed out, as for MaxEvents.
	MaxWork int
}

const (
	batchRanges = 512     // ranges a batch
	queueEvents = 256     // events pulled at once
	maxIdle     = 1 << 16 // blocks without an outcome before a flow is said to loop
	tableBits   = 12      // log2 of the private table's entries
)

// Walker follows one stream, a segment at a time. It is used by one goroutine;
// its Cache and Text may be shared.
type Walker struct {
	cfg   Config
	text  Text
	cache *Cache
	ends  isa.ClassSet
	bd    builder
	sink  Sink
	src   Source

	queue   []event.Event // events pulled and not yet used by every thread
	base    int           // index of queue[0] in the segment
	drained bool          // src has no more

	t       thread // the one flow, when there is no window open
	out     Batch
	stamp   uint32 // index of the newest stamp of out
	err     error
	table   [1 << tableBits]*Block
	paths   *Paths
	pokes   []int              // scratch
	passed  []int              // scratch of learnFromText
	options []option           // what settle found
	reads   map[readKey]*Block // see read
	threads []*thread
	kids    []*thread // scratch of split
	spare   spares
	in      isa.Insn // of insn
	align   aligner
	window  window
	lookout lookout
	hidden  []hidden // scratch of quiet
	front   []spot   // scratch of uncover

	careful bool // nothing but step: for tests

	suspects []suspect // scratch of blame
	struck   []uint64
}

// NewWalker returns a walker over text whose blocks are kept in c.
func NewWalker(text Text, c *Cache, cfg Config) *Walker {
	if cfg.MaxThreads == 0 {
		cfg.MaxThreads = 64
	}
	if cfg.MaxEvents == 0 {
		cfg.MaxEvents = 1 << 16
	}
	if cfg.MaxRanges == 0 {
		cfg.MaxRanges = 1 << 19
	}
	if cfg.MaxWork == 0 {
		cfg.MaxWork = 1 << 26
	}
	if cfg.Kernel == 0 {
		cfg.Kernel = isa.UpperHalf
	}
	w := &Walker{cfg: cfg, text: text, cache: c, paths: new(Paths)}
	w.ends = ^passes | cfg.Rules.Waypoints
	w.align.text = versions{text}
	w.bd = builder{text: text, dec: cfg.ISA}
	w.out.Stream = cfg.Stream
	w.t.stack.depth = isa.MaxStack
	if d := cfg.Rules.Stack; d > 0 && d < isa.MaxStack {
		w.t.stack.depth = d
	}
	if cfg.Rules.Returns == isa.ReturnsByTarget && cfg.Rules.Waypoints.Has(isa.Return) {
		w.t.stack.depth = 0 // nothing asks it: flows that called differently are one where they meet
	}
	return w
}

// UsePaths gives w the paths to use and to add to from now on. Walkers that read the same
// text into the same cache by the same rules can take turns with them.
func UsePaths(w *Walker, p *Paths) { w.paths = p }

// Run walks one segment: all that src gives. What was executed goes to out in
// order. The error is out's.
func (w *Walker) Run(src Source, out Sink) error {
	w.src, w.sink, w.err = src, out, nil
	w.queue, w.base, w.drained = w.queue[:0], 0, false
	w.t.reset(w.cfg.Mode)
	w.lookout.clear()
	w.out.Reset()
	w.mark(&event.Event{Time: event.Always})
	pt := w.cfg.Rules.Waypoints == pointsPT
	for w.err == nil {
		switch {
		case w.careful:
		case pt:
			w.fast()
		default:
			w.points()
		}
		if w.err != nil {
			break
		}
		switch st := w.step(&w.t); st {
		case moved:
		case forked:
			w.search()
			continue
		case ended:
			w.flush()
			return w.err
		default:
			w.resync(&w.t, st.reason())
		}
		w.trim()
	}
	return w.err
}

// event returns event i of the segment, pulling as needed; nil past the end.
// The pointer is good until the next call that pulls.
func (w *Walker) event(i int) *event.Event {
	if i-w.base < len(w.queue) {
		return &w.queue[i-w.base]
	}
	return w.later(i)
}

// later is event where it is not pulled yet.
func (w *Walker) later(i int) *event.Event {
	for i-w.base >= len(w.queue) {
		if w.drained {
			return nil
		}
		w.pull()
	}
	return &w.queue[i-w.base]
}

// pull appends events to the queue.
func (w *Walker) pull() {
	n := len(w.queue)
	if cap(w.queue)-n < queueEvents {
		grown := make([]event.Event, n, 2*cap(w.queue)+queueEvents)
		copy(grown, w.queue)
		w.queue = grown
	}
	q := w.queue[:n+queueEvents]
	got := w.fill(q[n:])
	w.drained = got < len(q)-n
	w.queue = q[:n+got]
}

// fill pulls as many events as q holds, fewer at the segment's end.
func (w *Walker) fill(q []event.Event) int {
	if f, ok := w.src.(Filler); ok {
		return f.Fill(q)
	}
	for i := range q {
		if !w.src.Next(&q[i]) {
			return i
		}
	}
	return len(q)
}

// trim drops the events that the flow has used.
func (w *Walker) trim() {
	// One event back is kept: a flow with outcomes in hand refers to it.
	if used := w.t.q - 1 - w.base; used >= queueEvents && used >= len(w.queue)/2 {
		n := copy(w.queue, w.queue[min(used, len(w.queue)):])
		w.queue = w.queue[:n]
		w.base += used
	}
}

// mark adds a stamp for e and returns its index; ranges emitted from now on
// carry it.
func (w *Walker) mark(e *event.Event) uint32 {
	w.stamp = uint32(len(w.out.Stamps))
	w.out.Stamps = append(w.out.Stamps, Stamp{Off: e.Off, Time: e.Time})
	return w.stamp
}

// flush hands the batch over.
func (w *Walker) flush() {
	last := w.out.Stamps[w.stamp]
	if len(w.out.Ranges) > 0 || len(w.out.Notes) > 0 {
		if err := w.sink.Flow(&w.out); err != nil && w.err == nil {
			w.err = err
		}
	}
	w.out.Reset()
	w.out.Stream = w.cfg.Stream
	w.stamp = 0
	w.out.Stamps = append(w.out.Stamps, last)
}

// kernel reports whether addr is the kernel's.
func (w *Walker) kernel(addr uint64) bool { return addr >= w.cfg.Kernel }

// block returns the block at addr that is true for every epoch in [lo, hi],
// or nil when the text there changes in between.
func (w *Walker) block(space uint32, addr uint64, m isa.Mode, lo, hi event.Epoch) *Block {
	if w.kernel(addr) && space != guestSpace {
		space = 0
	}
	k := key{addr, space, m}
	slot := &w.table[k.hash()>>(64-tableBits)]
	b := *slot
	if b == nil || b.Addr != addr || b.Space != space || b.Mode != m || b.Span.From > lo || lo >= b.Span.Until {
		// One version is true at lo, so one look tells: between two, another worker
		// may have put it in.
		if b = w.cache.find(k, lo); b == nil {
			b = w.cache.add(k, w.bd.build(space, addr, m, lo, 0, maxInsns, w.ends))
		}
		*slot = b
	}
	if lo < b.Span.From || hi >= b.Span.Until {
		return nil
	}
	return b
}

// resync ends the flow of t with a gap and goes on at the next event that
// states an address.
func (w *Walker) resync(t *thread, why event.Reason) {
	g := event.Gap{Reason: why, Stream: w.cfg.Stream, IP: t.ip}
	if t.guest {
		g.Reason, g.What = event.NoText, GuestGap
	}
	e := w.event(t.q)
	if e != nil {
		g.Off, g.Time = e.Off, e.Time
		if t.q > 0 && t.n > 0 && t.q > w.base {
			g.Off = w.queue[t.q-1-w.base].Off
		}
	}
	t.bits, t.n, t.on, t.lost = 0, 0, false, true
	t.stack.Forget()
	for ; e != nil; e = w.event(t.q) {
		g.End = e.End
		if t.stays(e) {
			t.q++
			continue
		}
		if states(e) {
			break
		}
		if e.Kind == event.End || (e.Kind == event.Sync && !e.HasIP()) {
			break
		}
		w.pass(t, e)
		t.q++
		if !w.roomFor(t) {
			break
		}
	}
	w.note(t, Note{Kind: NoteGap, Gap: g, IP: g.IP, Poke: -1})
	// A target may have waited behind outcomes of which some belong after it
	// (Intel SDM, volume 3C, section "Deferred TIPs"): which, only the walk
	// that was lost could tell. Until an event confirms the flow it is a guess.
	// Where every branch spends an outcome, a target belongs to the one before it.
	t.doubt = e != nil && e.Kind == event.Target && !w.cfg.Rules.Waypoints.Has(isa.JumpInd) && !w.cfg.Rules.NoOutcomes && w.behindOutcomes(t.q)
}

// behindOutcomes reports whether only targets lie between event i and outcomes
// before it.
func (w *Walker) behindOutcomes(i int) bool {
	for i--; i >= w.base; i-- {
		if k := w.queue[i-w.base].Kind; k != event.Target {
			return k == event.Outcomes
		}
	}
	return true
}

// states reports whether the flow can be entered at e.
func states(e *event.Event) bool {
	switch e.Kind {
	case event.Target, event.Async, event.Enable, event.Overflow, event.Sync, event.Status, event.Quiet:
		return e.HasIP()
	case event.AsyncDisable, event.Disable, event.Off:
		return true // the flow is known to be off
	}
	return false
}
