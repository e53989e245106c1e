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

// Config says what to open. Either Recording is set, or raw parts are; raw
// parts beside a recording override its own.
type Config struct {
	// FS is what all files that are named here are looked for in, with the rules of
	// package io/fs for names; nil: the operating system's files. Each file that is
	// no io.ReaderAt is held in memory.
	FS fs.FS

	Recording string    // a perf.data file or directory; "-": Stdin
	Stdin     io.Reader // read when Recording is "-"

	Raw      []RawTrace // streams of bare trace
	Code     []CodeFile // of the kernel or of a program
	Kcore    string     // kernel text: ELF core, vmlinux
	Late     string     // another one, taken after the recording where Kcore was before, or the other way round
	Kallsyms string
	Modules  string
	Events   string   // event stream, JSON Lines
	Model    pt.Model // of the CPU, for its errata; zero: as the recording says
	Filters  []Filter // by which the trace unit filtered; none: as the recording says

	Buffer       string // of a snapshot: the trace buffer to read; "": the first that has a section in trace.ini
	AllBuffers   bool   // of a snapshot: read all
	CheckOpcodes bool   // Arm: an A64 instruction whose upper half is zero is none

	// Mode is how text of Arm's is read where no trace says; ModeUnknown: as the
	// cores of the trace that comes first begin. Without any trace, the text is
	// Arm's if Mode is known, else x86's.
	Mode isa.Mode
	// Syntax is how instructions are printed: "gnu" or "" (AT&T), "intel", or "go". Arm's are
	// printed in Arm's own syntax always.
	Syntax string

	// ClockError is by how much the times of records may be off against those
	// of other CPUs' records and of the trace, ns, either way.
	ClockError uint64

	// Memory is what all buffers together may take, bytes; 0: 1 GiB. Less than 64 MiB
	// counts as that. It changes how much is done again, and what
	// comes out only where code and trace contradict each other (the verdict Unconfirmed).
	Memory int64

	// Guests are virtual machines that the trace of a host tells of, with what was
	// recorded inside of them.
	Guests []Guest

	// NoLearn has the code taken as it is given, also where the trace contradicts it.
	NoLearn bool
	// LearnPasses is how often all of the recording is decoded to test what is learned;
	// 0: 3 times at most.
	LearnPasses int
	// Learned is a file of what an earlier run learned of the same recording and images
	// (docs/formats/learned.md); "": none. It is an error if none
	// of its sites fits, and a warning if some do not.
	Learned string

	SymFS    string   // where the files that were mapped are looked for; "": /
	BuildIDs []string // directories that hold files by build ID

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
// (docs/formats/events.md): of the recording, then of the event file. It holds one event
// at a time. The warnings are what the recording lacks and records that cannot be read.
// The errors are those of Open and of w.
func WriteEvents(c Config, w io.Writer) ([]Warning, error) {
	return bundled.WriteEvents(recording.Config(c), w)
}

// MinMemory is what a smaller Config.Memory counts as, bytes.
const MinMemory = held.MinMemory

// memoryOf is what all buffers of a session may take, bytes.
func memoryOf(c *Config) int64 { return held.Memory(c.Memory) }
