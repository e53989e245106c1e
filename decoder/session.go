package decoder

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/pt"
)

// ErrStop, returned by a sink, ends a flow without an error.
var ErrStop = errors.New("decoder: stop")

// Config says what to open. Either Recording is set, or raw parts are; raw
// parts beside a recording override its own.
type Config struct {
	Recording string    // a perf.data file or directory; "-": Stdin
	Stdin     io.Reader // read when Recording is "-"

	PT       []RawPT  // raw Intel PT streams
	Text     []string // FILE[@ADDR]: user or kernel text (kcore.ParseTextArg)
	Kcore    string   // kernel text: ELF core, vmlinux
	Late     string   // another one, taken after the recording where Kcore was before, or the other way round
	Kallsyms string
	Modules  string
	Events   string // event stream, JSON Lines
	Model    string // FAMILY/MODEL[/STEPPING], for errata; overrides the recording's
	Filter   string // address filters, as perf record --filter has them, in numbers; overrides the recording's

	Buffer       string // of a snapshot: the trace buffer to read; "": the first that has a section in trace.ini
	AllBuffers   bool   // of a snapshot: read all
	CheckOpcodes bool   // Arm: an A64 instruction whose upper half is zero is none

	// Mode is how text of Arm's is read where no trace says; ModeUnknown: as the
	// cores of the trace that comes first begin. Without any trace, the text is
	// Arm's if Mode is known, else x86's.
	Mode isa.Mode

	// ClockError is by how much the times of records may be off against those
	// of other CPUs' records and of the trace, ns, either way.
	ClockError uint64

	SymFS    string   // where the files that were mapped are looked for; "": /
	BuildIDs []string // directories that hold files by build ID
}

// RawPT is a file of raw Intel PT.
type RawPT struct {
	CPU  int32
	Path string
}

// Session is an open recording: its streams, its text in time, and who ran
// when. It may be used by many goroutines.
type Session struct {
	cfg      Config
	streams  []*Stream
	journal  *kcore.Journal
	text     textView
	symbols  *kcore.Symbols
	tasks    *tasks
	users    *users
	isa      isa.Decoder // of the kernel's text, in mode
	mode     isa.Mode
	kernel   uint64                  // the lowest address that is the kernel's
	switches bool                    // some event asks for records of switches
	onExec   bool                    // CoreSight: tracing began when the process that perf started became a program
	caches   map[reading]*flow.Cache // of blocks
	spare    sync.Pool               // of *flow.Batch, see collector
	walk     flow.Config
	complete uint64 // ns: up to here no record of the recording is missing
	filters  []filter
	buffers  []Buffer
	meta     Meta
	warnings []Warning
	files    kcoreFiles // that text was read from
	closers  []io.Closer
}

// Meta is what a recording says of itself.
type Meta struct {
	Kind     string // "perf.data", "snapshot", "raw"
	Host     string
	Release  string // of the kernel
	CPUModel string // as /proc/cpuinfo names it
	Model    pt.Model
	Command  string
	PT       pt.Config         // of all Intel PT streams
	Records  map[string]uint64 // by type
	Snapshot bool
	Filter   string // address filters that it was recorded with, as perf writes them
	Attrs    []AttrMeta
}

// AttrMeta is one event that was recorded.
type AttrMeta struct {
	Name   string
	Type   uint32
	Config uint64
	IDs    int
}

// Warning is something missing or doubtful that leaves the rest readable.
type Warning struct {
	What string // file, offset and what
	Hint string // what to do; may be empty
	// Doubt: what is decoded may be wrong or not whole, so a check fails.
	// Else something is not there that not everyone needs.
	Doubt bool
	// Damage: something is there that cannot be read, so that what is decoded
	// is not all that was recorded.
	Damage bool
	Image  bool // it is about the image of text
	NoText bool // there is no text of the kernel, which only decoding needs
}

// Stream is one trace source's bytes and how to read them.
type Stream struct {
	Index    int
	Protocol Protocol
	CPU      int32              // -1: a thread's
	TID      int32              // -1: a CPU's
	Size     int64              // bytes
	ID       string             // CoreSight: the trace ID, hex; else ""
	Name     string             // for messages: "cpu0", "tid12", "id10"
	File     string             // where it comes from
	PT       pt.Config          // Intel PT
	CS       coresight.Config   // CoreSight
	Clock    coresight.TimeConv // CoreSight: of its timestamps
	Source   string             // CoreSight: the trace source's name, where it has one
	Core     string             // CoreSight: the core that it traces: name and type
	Buffer   string             // CoreSight: the buffer's name
	Losses   []StreamLoss       // by Off
	Head     int64              // bytes before the first sync point, which cannot be decoded
	data     bytesAt
	origin   placeOf // see FileOff; nil: not known
	anew     []int64 // where the trace unit began anew, bytes, ascending
	segs     []event.Segment
	host     bool           // some of it says that it is not inside of a virtual machine
	holes    []hole         // losses, by the segment that they lie before
	cuts     map[int64]bool // segments, by Off, that end at a loss

	mu     sync.Mutex
	modes  map[int]isa.Mode // by segment: the last mode stated in it
	firsts map[int]uint64   // by segment: see protocol.stamps
	lasts  map[int]uint64
}

// placeOf gives the file that the byte at off of a stream stands in, and where in
// it, bytes; ok is false where that is not known.
type placeOf func(off int64) (file string, at int64, ok bool)

// bytesAt gives n bytes of a stream from off on, fewer at its end.
type bytesAt interface {
	Bytes(off, n int64) []byte
}

// StreamLoss is a place where the recorder dropped trace.
type StreamLoss struct {
	Off  int64 // bytes
	End  int64 // bytes; behind Off where what lies between has holes
	Why  string
	Time uint64 // ns; 0: not known
}

// fileStream is a stream read from a file where it is needed.
type fileStream struct {
	f    *os.File
	size int64 // bytes
}

// Bytes returns n bytes from off on, fewer where the file ends or cannot be read.
func (s *fileStream) Bytes(off, n int64) []byte { return s.Into(nil, off, n) }

// Into is Bytes into dst's memory, where it is large enough.
func (s *fileStream) Into(dst []byte, off, n int64) []byte {
	if off < 0 || n <= 0 || off >= s.size {
		return nil
	}
	n = min(n, s.size-off)
	if int64(cap(dst)) < n {
		dst = make([]byte, n+n/4)
	}
	got, _ := s.f.ReadAt(dst[:n], off)
	return dst[:got]
}

// Streams returns the trace streams.
func (s *Session) Streams() []*Stream { return s.streams }

// rules is how the stream's events are walked.
func (st *Stream) rules() isa.Rules { return st.of().rules(st) }

// Segments returns how many segments the stream decodes in.
func (st *Stream) Segments() int { return len(st.segs) }

// Time bounds the stream by what its sync points state; event.Always without.
func (st *Stream) Time() event.Time {
	t := event.Always
	for i := range st.segs {
		if lo := st.segs[i].Time.Lo; lo != 0 {
			t.Lo = lo
			break
		}
	}
	for i := len(st.segs) - 1; i >= 0; i-- {
		if lo := st.segs[i].Time.Lo; lo != 0 {
			t.Hi = lo
			break
		}
	}
	return t
}

// Text returns the kernel's text in time.
func (s *Session) Text() *kcore.Text { return s.text.Text }

// Symbols returns the kernel's symbols; nil where none are known.
func (s *Session) Symbols() *kcore.Symbols { return s.symbols }

// Meta returns what the recording says of itself.
func (s *Session) Meta() *Meta { return &s.meta }

// Warnings returns what is missing or doubtful.
func (s *Session) Warnings() []Warning { return s.warnings }

// Close releases the files.
func (s *Session) Close() error {
	var err error
	for i := len(s.closers) - 1; i >= 0; i-- {
		if e := s.closers[i].Close(); err == nil {
			err = e
		}
	}
	return err
}

// Symbol names addr at time: the kernel's symbol, or the file that user text
// in an address space was mapped from. ok is false if nothing does.
func (s *Session) Symbol(space uint32, addr, time uint64) (sym string, off uint64, dso string, ok bool) {
	if space != 0 && !s.Kernel(addr) {
		if m, found := s.users.find(space, addr); found {
			return "", m.off + (addr - m.addr), m.path, true
		}
		return "", 0, "", false
	}
	if s.symbols == nil {
		return "", 0, "", false
	}
	y, o, found := s.symbols.Lookup(addr, time)
	if !found {
		return "", 0, "", false
	}
	dso = "[kernel.kallsyms]"
	if y.Module != "" {
		dso = "[" + y.Module + "]"
	}
	return y.Name, o, dso, true
}

// breakEntries are the names of the breakpoint exception's entry
// (arch/x86/entry/entry_64.S: asm_exc_int3 since v5.8, int3 before;
// xen_asm_exc_int3 under Xen PV).
func breakEntries() []string {
	return []string{"asm_exc_int3", "int3", "xen_asm_exc_int3"}
}

// finish is done when all facts are in: the walker's configuration.
func (s *Session) finish() {
	s.isa, s.mode = protocols[IntelPT].isa, protocols[IntelPT].mode
	if len(s.streams) == 0 && s.cfg.Mode != isa.ModeUnknown {
		s.isa, s.mode = armISA{}, s.cfg.Mode
	}
	if len(s.streams) > 0 {
		st := s.streams[max(0, slices.IndexFunc(s.streams, (*Stream).Executes))]
		s.isa, s.mode = s.instructions(st), st.firstMode()
		if _, arm := s.isa.(armISA); arm && s.cfg.Mode != isa.ModeUnknown {
			s.mode = s.cfg.Mode
		}
	}
	s.caches = map[reading]*flow.Cache{}
	for _, st := range s.streams {
		if r := s.reading(st); s.caches[r] == nil {
			s.caches[r] = flow.NewCache()
		}
	}
	s.walk = flow.Config{Traced: s.traced(), Kernel: s.kernel}
	if s.symbols != nil {
		for _, n := range breakEntries() {
			if y, ok := s.symbols.Find(n); ok && y.Module == "" {
				s.walk.Breaks = append(s.walk.Breaks, y.Addr)
			}
		}
	}
}

// sharedDuring reports whether several programs may have run in st during t, so
// that whose text is read depends on the moment.
func (s *Session) sharedDuring(st *Stream, t event.Time) bool {
	if len(s.users.maps) == 0 {
		return false
	}
	pid := int32(-1)
	if st.CPU < 0 {
		pid = s.tasks.pids[st.TID]
	} else if first, _, ok := s.tasks.thread(st.CPU, t.Lo); !s.tasks.alone(st.CPU, t) {
		return true
	} else if ok {
		pid = first
	}
	return pid >= 0 && s.users.at(pid, t.Lo) != s.users.at(pid, t.Hi)
}

// pokedDuring reports whether some poke's moment lies inside t.
func (s *Session) pokedDuring(t event.Time) bool {
	lo, hi := s.text.Epochs(t)
	return lo != hi
}
