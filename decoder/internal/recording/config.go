package recording

import (
	"fmt"
	"io"
	"io/fs"

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

	// ClockError is by how much the times of records may be off against those
	// of other CPUs' records and of the trace, ns, either way.
	ClockError uint64

	// Memory is what all buffers together may take, bytes; 0: 1 GiB. Less than 64 MiB
	// counts as that. It changes how much is done again, never what comes out.
	Memory int64

	SymFS    string   // where the files that were mapped are looked for; "": /
	BuildIDs []string // directories that hold files by build ID
}

// CodeFile is a file of machine code.
type CodeFile struct {
	Path string
	Addr uint64 // of the first byte; an ELF file's addresses are shifted by it
}

// String returns the file's name, with @ and a hexadecimal address behind it unless
// that is 0.
func (f CodeFile) String() string {
	if f.Addr == 0 {
		return f.Path
	}
	return fmt.Sprintf("%s@%x", f.Path, f.Addr)
}

// RawTrace is a file of bare trace.
type RawTrace struct {
	Protocol *stream.Protocol // one that has a RawFlag
	CPU      int32
	Path     string
}
