package decoder

import (
	"io"
	"io/fs"

	"github.com/ptdecode/ptdecode/decoder/internal/addrfilter"
	"github.com/ptdecode/ptdecode/decoder/internal/bundled"
	"github.com/ptdecode/ptdecode/decoder/internal/held"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/pt"
)

// Config says what to open. Either Recording is set, or the raw parts are: Raw, Code,
// Kcore, Kallsyms, Modules and Events. Raw parts beside a Recording take the place of its
// own. Only what to open must be set; the zero value of every other field has a meaning,
// which stands beside it.
type Config struct {
	// FS is where all files that are named here are looked for, with the rules of
	// package io/fs for names. nil stands for the operating system's files. Each file of
	// an FS that is no io.ReaderAt is held in memory.
	FS fs.FS

	Recording string    // a perf.data file or directory; "-": Stdin
	Stdin     io.Reader // read when Recording is "-"

	Raw      []RawTrace // streams of bare trace
	Code     []CodeFile // machine code of the kernel or of a program
	Kcore    string     // the kernel's code: a copy of /proc/kcore, or a vmlinux
	Late     string     // another one: if Kcore was taken before the recording, one from after it, or the other way round
	Kallsyms string     // a copy of /proc/kallsyms
	Modules  string     // a copy of /proc/modules
	Events   string     // event stream, JSON Lines (docs/formats/events.md)
	Model    pt.Model   // of the CPU, for its errata; zero: as the recording says
	Filters  []Filter   // by which the trace unit filtered; none: as the recording says

	Buffer       string // of a snapshot: the trace buffer to read; "": the first that has a section in trace.ini
	AllBuffers   bool   // of a snapshot: read all
	CheckOpcodes bool   // Arm: an A64 instruction word whose upper half is zero counts as no instruction

	// Mode is how Arm code is read where no trace says it. ModeUnknown reads it as the
	// trace of the first core begins. Without any trace, Mode also says whose code there
	// is. With ModeUnknown that is what the recording says of its machine, else x86's.
	Mode isa.Mode
	// Syntax is how x86 instructions are printed: "gnu" or "" (AT&T), "intel", or "go".
	// Arm's are always printed in Arm's own syntax.
	Syntax string

	// ClockError is by how much the time of a record may be wrong, either way, compared
	// with records of other CPUs and with the trace, ns.
	ClockError uint64

	// Memory is what all buffers together may take, bytes; 0: 1 GiB. Less than MinMemory
	// counts as MinMemory. With less memory more work is done twice. The output depends on
	// it only where code and trace contradict each other: there it decides how much flow
	// is Unconfirmed.
	Memory int64

	// Guests are virtual machines that ran on the recorded host, with the recordings that
	// were made inside of them.
	Guests []Guest

	// NoLearn takes the code as it is given, also where the trace contradicts it. Without
	// it, Session.Flow looks for other code that may lie there.
	NoLearn bool
	// LearnPasses is how often all of the recording may be decoded to test what is learned;
	// 0: 3 times at most.
	LearnPasses int
	// Learned is a file of what an earlier run learned of the same recording and images
	// (docs/formats/learned.md); "": none. Open fails if none of its sites fits the
	// recording. Some that do not fit are a Warning. Where it says that the code is another one throughout, that
	// holds with NoLearn, too.
	Learned string

	SymFS    string   // folder under which the files that programs had mapped are looked for; "": /
	BuildIDs []string // folders that hold files by build ID

	NoDemangle bool // names of programs' code stay as the linker has them
}

// Protocols returns all protocols, in a fixed order.
func Protocols() []*Protocol { return stream.Protocols() }

// ParseFilters reads address filters as perf writes them: ACTION START/SIZE or ACTION
// START/SIZE@FILE, with blanks or commas between. The action is filter or stop
// (tracestop), and both numbers are as C writes them (tools/perf/util/auxtrace.c,
// addr_filters__parse_bare_filter and addr_filter__to_str, v6.12). A start or stop at
// one address is refused: Intel PT filters by ranges (arch/x86/events/intel/pt.c,
// pt_event_addr_filters_validate). An error names the word that is wrong.
func ParseFilters(s string) ([]Filter, error) { return addrfilter.Parse(s) }

// WriteEvents writes what c names, but for its trace and its code, as JSON Lines
// (docs/formats/events.md). First come the records of c.Recording, then those of c.Events.
// It holds one record in memory at a time. The warnings say what the recording lacks, and
// which records cannot be read. The errors are those of Open and of w.
func WriteEvents(c Config, w io.Writer) ([]Warning, error) {
	return bundled.WriteEvents(recording.Config(c), w)
}

// MinMemory is the least that a Session may take for its buffers, bytes. A smaller
// Config.Memory, but for 0, counts as this.
const MinMemory = held.MinMemory

// memoryOf is what all buffers of a session may take, bytes.
func memoryOf(c *Config) int64 { return held.Memory(c.Memory) }
