package flow

import (
	"sync"

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

	// FullWork is what the cuts of a segment may cost, as for MaxWork, until what was
	// compared is not compared again; 0: half of MaxWork, and 64 more an event. If
	// negative, it is never compared again.
	FullWork int

	// Rough says that the code is known to be another one throughout: rough.go.
	Rough bool
	// MaxUnconfirmed bounds what is held back until an event confirms the flow, in ranges;
	// a note counts as 16. 0: 1 << 18, which is about 10 MiB at most. What is older is
	// handed on with the verdict Unconfirmed.
	MaxUnconfirmed int

	// Brief says that walks are short and few: what they pass is not kept to be known again.
	Brief bool

	// Little says that little is walked: to know again what was passed, bytes or paths, costs more than it spares.
	Little bool

	// Watch is told what code is read that may not be executed. nil: nobody asks.
	Watch *Watch

	// Marks says where the walk leaves marks; nil: nowhere.
	Marks *Marks

	// Spare is a pool of *Batch that walkers may share. nil: w has its own.
	Spare *sync.Pool

	// Contradicted is called where the trace contradicts the code, with what may be wrong
	// for it. An error ends the walk, and Run returns it. nil: nobody asks.
	Contradicted func(*Contradiction) error

	// Confirmed is called with what an event has confirmed that was not settled before:
	// ranges in a row, and the stamps that they have. Both are lent. Without ranges it says that
	// a gap that puts in doubt what ran before it lies before what is confirmed next. It says nothing
	// of other gaps, such as overflows. An error ends the walk, and Run returns it. nil: nobody asks.
	Confirmed func([]Range, []Stamp) error
}

const (
	batchRanges = 512     // ranges a batch
	queueEvents = 256     // events pulled at once
	briefEvents = 32      // likewise, of a walk that is brief
	maxIdle     = 1 << 16 // blocks without an outcome before a flow is said to loop
)

// Walker follows one stream, a segment at a time. It is used by one goroutine;
// its Cache and Text may be shared.
type Walker struct {
	exec    executor
	t       thread // the one flow, when there is no window open
	paths   *Paths
	again   bool // fast ended for want of events, before which phrases are to be tried
	phrased bool // w asked for phrases
	careful bool // nothing but step: for tests

	composer composer // scratch of compose
	tracer   tracer   // scratch of trace
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
	if cfg.MaxUnconfirmed == 0 {
		cfg.MaxUnconfirmed = 1 << 18
	}
	if cfg.Spare == nil {
		cfg.Spare = new(sync.Pool)
	}
	if cfg.Kernel == 0 {
		cfg.Kernel = isa.UpperHalf
	}
	w := &Walker{paths: &Paths{cache: c}}
	w.exec.prepare(text, c, cfg)
	w.exec.window.align.comparing = &w.paths.flows
	w.t.stack.depth = isa.MaxStack
	if d := cfg.Rules.Stack; d > 0 && d < isa.MaxStack {
		w.t.stack.depth = d
	}
	if cfg.Rules.Returns == isa.ReturnsByTarget {
		w.t.stack.told = true // flows that called differently are one where they meet
		if cfg.Rules.Waypoints.Has(isa.Return) {
			w.t.stack.depth = 0 // nothing asks it
		}
	}
	return w
}

// UsePaths gives w the paths to use and to add to from now on. Walkers that read the same
// text into the same cache by the same rules can take turns with them. Paths over another cache
// are forgotten.
func UsePaths(w *Walker, p *Paths) {
	if w.phrased { // w may be in the midst of phrases
		p.countFor(w.exec.out.refer.tally)
	}
	w.paths, w.exec.window.align.comparing = p, &p.flows
	p.uses(w.exec.code.cache)
}

// Run walks one segment: all that src gives. What was executed goes to out in
// order. The error is out's.
func (w *Walker) Run(src Source, out Sink) error {
	w.begin(src, out)
	return w.run()
}

// begin has w be where its segment begins.
func (w *Walker) begin(src Source, out Sink) {
	w.exec.events.start(src, w.exec.cfg.Rules.Waypoints == conditionalOnly && !w.careful && !w.exec.cfg.Brief && !w.exec.cfg.Little)
	w.exec.out.start(out)
	w.t.reset(w.exec.cfg.Mode)
	w.exec.ahead.clear()
	w.exec.window.beginSegment()
}

// run walks on from where w is.
func (w *Walker) run() error {
	pt := w.exec.cfg.Rules.Waypoints == conditionalOnly
	for w.exec.out.wait.err == nil {
		if k := w.exec.cfg.Marks; k != nil {
			w.leave(k)
		}
		switch {
		case w.careful:
		case !w.t.on:
			passOff(&w.exec, &w.t)
		case pt:
			if w.fast(); w.again {
				w.again = false
				continue
			}
		default:
			w.points()
		}
		if w.exec.out.wait.err != nil {
			break
		}
		switch st := w.exec.step(&w.t); st {
		case moved:
		case forked:
			w.search()
			continue
		case ended:
			w.exec.out.endSegment()
			return w.exec.out.wait.err
		default:
			w.exec.resync(&w.t, st.reason())
		}
		if w.t.q-w.exec.events.base > queueEvents {
			w.exec.events.trim(w.t.q, queueEvents)
		}
	}
	return w.exec.out.wait.err
}
