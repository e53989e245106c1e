package recording

import "github.com/ptdecode/ptdecode/pt"

// KindSnapshot is the Meta.Kind of a snapshot.
const KindSnapshot = "snapshot"

// Meta is what a recording says of itself.
type Meta struct {
	Kind     string // "perf.data", "snapshot", "raw"
	Host     string
	Release  string // of the kernel
	Machine  string // as uname -m names it
	CPUModel string // as /proc/cpuinfo names it
	Model    pt.Model
	Command  string
	PT       pt.Config         // of all Intel PT streams
	Records  map[string]uint64 // by type
	Snapshot bool
	Filter   string // address filters that it was recorded with, as perf writes them
	Attrs    []AttrMeta
	Guest    int32    // the process that runs the virtual machine in which this was recorded; 0: none is known
	Watched  []string // where samples tell of changes to the kernel's code
	Programs bool     // the trace is of programs alone, and no event asks for changes to the kernel's code
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

	NoTrace bool // there is no trace, which a guest's recording needs not have
}

// Buffer is a trace buffer of a snapshot.
type Buffer struct {
	Name   string
	File   string
	Format string
	Size   int64 // bytes; of what is not read, of the file
	Read   bool  // it was asked for

	Missing bool // its file cannot be read; a warning says why

	// Unowned is how many bytes of data stand in its frames before the first trace
	// ID, or behind a barrier before the next: of whom is not known.
	Unowned int64
}
