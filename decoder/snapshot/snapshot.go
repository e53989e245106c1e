package snapshot

import (
	"io"
	"io/fs"
	"strings"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/files"
)

// Snapshot is what the ini files of a snapshot say.
type Snapshot struct {
	Dir         string // as the caller named it
	Version     string // of the format; "0.1" where the snapshot does not say
	Description string

	Devices  []Device  // cores, trace sources and others, as listed
	Clusters []Cluster //
	Buffers  []Buffer  // in the order in which trace.ini lists them
	Sources  []Source  // in the order in which trace.ini says where they go
	Dumps    []Dump    // of all cores, each once

	// TimestampFreq is the frequency of the trace's timestamps in Hz; 0: not said.
	TimestampFreq uint64

	// Problems is what is wrong and was left out.
	Problems []Problem

	files tree
	read  map[string]bool // ini files of devices that were read
	index struct {
		devices, buffers, sources map[string]int // by name
	}
	dumps    map[Dump]bool  // without core and ini
	memory   uint64         // bytes that dumps may still have
	problems map[string]int // by file
}

// Cluster is a group of cores.
type Cluster struct {
	Name  string
	Cores []string // names of devices
}

// Buffer is a trace buffer: the bytes of one or more sources.
type Buffer struct {
	Name   string
	File   string // as trace.ini names it
	Size   int64  // bytes
	Format string // as trace.ini names it

	// Framed: the bytes are in frames, as Frames says. Otherwise they are the
	// bytes of one source.
	Framed bool
	Frames coresight.Format

	// Missing: the file cannot be read; a Problem says so.
	Missing bool

	Sources []int // indexes in Snapshot.Sources
	Line    int   // of its section in trace.ini
}

// Source is a trace source that writes to a buffer.
type Source struct {
	Name string // of its device
	Type string // as its device's ini names it: "ETM4.2", "ETE"
	File string // its device's ini
	Core string // name of the core that it watches; "" for STM and ITM

	// Config is what its registers and its core say.
	Config coresight.Config

	// Usable: Config is whole and can be decoded. Otherwise a Problem says why.
	Usable bool

	Buffers []int // indexes in Snapshot.Buffers
}

// Dump is a stretch of memory that the snapshot holds.
type Dump struct {
	Core    string // name of the core through which it was read
	File    string // as the ini names it
	Address uint64 // of its first byte
	Length  int64  // bytes, as far as the file has them
	Off     int64  // of its first byte in File, bytes
	Space   Space
	Ini     string // the core's ini
	Line    int    // of its section there
}

// Space is the address space of a dump.
type Space string

// Any is the space of a dump that does not say.
const Any Space = "ANY"

// spaces are the names of spaces, and what older names mean now. EL1, EL2 with
// S, N or R: secure, non-secure, realm.
var spaces = map[string]Space{
	"EL1S": "EL1S", "EL1N": "EL1N", "EL1R": "EL1R", "EL2S": "EL2S", "EL2N": "EL2N", "EL2R": "EL2R",
	"EL3": "EL3", "ROOT": "ROOT", "S": "S", "N": "N", "R": "R", "ANY": Any,
	"EL2": "EL2N", "H": "EL2N", "P": "EL1N", "NP": "EL1N", "SP": "EL1S",
}

const snapshotIni = "snapshot.ini"

// Open reads the snapshot in a directory. The error is a *badfile.Error:
// there is no snapshot.ini, or no device is listed that can be read.
func Open(fsys fs.FS, dir string) (*Snapshot, error) {
	return open(dir, folder{files.Tree{FS: fsys}, dir})
}

func open(dir string, files tree) (*Snapshot, error) {
	s := &Snapshot{
		Dir: dir, Version: "0.1", files: files, read: map[string]bool{}, dumps: map[Dump]bool{},
		memory: maxMemory, problems: map[string]int{},
	}
	defer s.moreProblems()
	s.index.devices, s.index.buffers, s.index.sources = map[string]int{}, map[string]int{}, map[string]int{}
	f, why, hint := s.ini(snapshotIni)
	if f == nil {
		return nil, &badfile.Error{File: dir, What: why + " (" + hint + ")"}
	}
	metadata := s.readList(f)
	if len(s.Devices) == 0 {
		e := &badfile.Error{File: dir + "/" + snapshotIni, What: "no device can be read from it"}
		if len(s.Problems) > 0 {
			p := s.Problems[0]
			e.What += ": " + p.String() + " (" + p.Hint + ")"
		}
		return nil, e
	}
	if metadata.value != "" {
		s.readTrace(f, metadata)
	}
	return s, nil
}

// readList reads snapshot.ini and the devices that it lists. It returns the
// entry that names the trace's ini file.
func (s *Snapshot) readList(f *iniFile) (metadata entry) {
	found := false
	for i := range f.sections {
		sec := &f.sections[i]
		switch sec.name {
		case "snapshot":
			got := s.once(f, sec, false, "version", "description")
			s.Description = got["description"].value
			if v, ok := got["version"]; ok {
				s.Version = v.value
				s.checkVersion(f, v)
			}
		case "device_list":
			found = true
			for _, e := range sec.entries {
				s.readDevice(f, e)
			}
		case "clusters":
			for _, e := range sec.entries {
				s.Clusters = append(s.Clusters, Cluster{e.key, list(e.value)})
			}
		case "trace":
			if e, ok := s.once(f, sec, false, "metadata")["metadata"]; ok {
				metadata = e
			}
		}
	}
	if !found {
		s.problem(f.name, 0, "list the devices' ini files there: device0=cpu_0.ini", "it has no section [device_list]; %s", f.sectionNames())
	}
	if metadata.value == "" {
		s.problem(f.name, 0, "add [trace] with metadata=trace.ini", "it names no trace: [trace] metadata is missing")
	}
	return metadata
}

func (s *Snapshot) checkVersion(f *iniFile, v entry) {
	switch strings.TrimPrefix(v.value, "v") {
	case "1", "1.0", "0.1", "0.2":
		return
	}
	s.problem(f.name, v.line, "known are 0.1, 0.2 and 1.0; check the output", "version %s is not known: read as 1.0", quote(v.value))
}

// Device returns the device of a name.
func (s *Snapshot) Device(name string) (*Device, bool) {
	if i, ok := s.index.devices[name]; ok {
		return &s.Devices[i], true
	}
	return nil, false
}

// Buffer returns the buffer of a name.
func (s *Snapshot) Buffer(name string) (*Buffer, bool) {
	if i, ok := s.index.buffers[name]; ok {
		return &s.Buffers[i], true
	}
	return nil, false
}

// ReadBuffer reads a buffer's bytes: of frames in memory, the whole ones.
func (s *Snapshot) ReadBuffer(b *Buffer) ([]byte, error) {
	return s.readFile(b.File, 0, b.Size-b.partial())
}

// File is an open file of a snapshot.
type File interface {
	io.ReaderAt
	io.Closer
}

// OpenDump opens the file in which a dump lies, from d.Off on. Dumps may be files
// with holes, larger than any memory, so they are read where they are needed.
func (s *Snapshot) OpenDump(d *Dump) (File, error) {
	f, err := s.files.open(d.File)
	if err != nil {
		return nil, &badfile.Error{File: s.Dir + "/" + d.File, Off: d.Off, What: "cannot be read", Err: cause(err)}
	}
	return f, nil
}

func (s *Snapshot) readFile(name string, off, n int64) ([]byte, error) {
	b, err := s.files.read(name, off, n)
	if err != nil {
		return nil, &badfile.Error{File: s.Dir + "/" + name, Off: off, What: "cannot be read", Err: cause(err)}
	}
	return b, nil
}
