package recording

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/ptdecode/ptdecode/decoder/internal/addrfilter"
	"github.com/ptdecode/ptdecode/decoder/internal/inject"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/pt"
)

// Config is decoder.Config, which says what the fields mean.
type Config struct {
	FS fs.FS

	Recording string
	Stdin     io.Reader

	Raw      []RawTrace
	Code     []CodeFile
	Kcore    string
	Late     string
	Kallsyms string
	Modules  string
	Events   string
	Model    pt.Model
	Filters  []addrfilter.Filter

	Buffer       string
	AllBuffers   bool
	CheckOpcodes bool

	Mode isa.Mode

	ClockError uint64 // ns

	Memory int64 // bytes

	Guests []inject.Guest

	NoLearn     bool
	LearnPasses int
	Learned     string

	SymFS    string
	BuildIDs []string

	NoDemangle bool
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
	Unit     any    // of CoreSight: its coresight.Config
	ID       string // and its trace ID, hexadecimal
}
