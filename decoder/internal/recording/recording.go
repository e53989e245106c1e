package recording

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/addrfilter"
	"github.com/ptdecode/ptdecode/decoder/internal/inject"
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/decoder/internal/repair"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
	"github.com/ptdecode/ptdecode/pt"
)

// Recording is what was recorded, read from wherever it lies: a plain value.
type Recording struct {
	Name      string // of the recording or the file of its records, for messages
	Meta      Meta
	Streams   []*stream.Stream
	Buffers   []Buffer // of a snapshot
	Processes *process.Processes
	WrittenBy map[int32]uint64 // by CPU: time of the newest AUX record, ns: all trace is older

	Pokes    []kcore.Poke
	Doubts   repair.Doubts // code that rests on pokes which were damaged
	Ksymbols []symbols.KsymbolRecord
	Breaks   []uint64     // entries of the breakpoint exception's handler
	Dumps    *image.Image // memory that the recording itself holds; nil: none
	Code     []Code       // that the recording itself holds, over the dumps; what comes later lies on top
	Kernel   Kernel
	Filters  []addrfilter.Filter // by which the trace unit filtered

	Lost       []event.Time // when records were lost
	LostAt     place        // of the first record that says so
	CompleteTo uint64       // ns: up to here no record is missing
	Converts   bool         // the trace's clock becomes that of the records

	Inside inject.Guests // what virtual machines recorded, as perf inject puts it into the host's

	Beside TextFiles    // that lie beside the recording
	After  TextFiles    // copies of after it, which lie there too
	Taken  *event.Time  // when the image was copied, ns; nil: not known
	Late   *image.Image // of the end; nil: none but what the call names

	Warnings []Warning
	closers  []io.Closer
	tree     files.Tree // that holds the files
	early    *earlyKallsyms
}

// Code is machine code at an address.
type Code struct {
	Addr  uint64
	Bytes []byte
}

// TextFiles are paths of what code and symbols are read from; empty where there is
// none.
type TextFiles struct {
	Kcore, Kallsyms, Modules string
}

// New returns a recording that holds nothing. Of c, it takes where the files lie
// that processes mapped.
func New(c *Config) *Recording {
	p := process.New(c.SymFS, c.BuildIDs)
	p.Spaces.FS = c.FS
	return &Recording{Meta: Meta{Kind: "raw"}, Processes: p, WrittenBy: map[int32]uint64{}, CompleteTo: math.MaxUint64, tree: files.Tree{FS: c.FS}, closers: []io.Closer{p.Spaces}}
}

// Read reads what c names, but for its images and symbols.
func Read(c *Config) (*Recording, error) {
	f := newFacts(c)
	if err := f.gather(c); err != nil {
		f.Close()
		return nil, err
	}
	return f.recording(), nil
}

// recording is what f has come to.
func (f *facts) recording() *Recording {
	f.Converts = f.converts()
	f.Processes.OnExec = f.auxInfo != nil && f.auxInfo.CS != nil && f.onExec[f.auxInfo.CS.PMUType]
	return &f.Recording
}

// Warnf adds a warning that makes what is decoded doubtful.
func (r *Recording) Warnf(hint, format string, args ...any) {
	r.Warnings = append(r.Warnings, Warning{What: fmt.Sprintf(format, args...), Hint: hint, Doubt: true})
}

// Damagedf adds a warning of something that cannot be read.
func (r *Recording) Damagedf(hint, format string, args ...any) {
	r.Warnf(hint, format, args...)
	r.Warnings[len(r.Warnings)-1].Damage = true
}

// CloseWith makes Close close c.
func (r *Recording) CloseWith(c io.Closer) { r.closers = append(r.closers, c) }

// Close releases the files.
func (r *Recording) Close() error {
	var err error
	for i := len(r.closers) - 1; i >= 0; i-- {
		if e := r.closers[i].Close(); err == nil {
			err = e
		}
	}
	return err
}

// gather collects the facts from all that c names.
func (f *facts) gather(c *Config) error {
	if (c.Buffer != "" || c.AllBuffers) && !isSnapshot(c.FS, c.Recording) {
		return callf("--buffer and --all-buffers are for snapshots: a directory with a snapshot.ini")
	}
	if c.Recording == "" && len(c.Raw) == 0 && c.Events == "" && c.Kcore == "" && len(c.Code) == 0 {
		return errors.New("nothing to open: name a recording or raw parts")
	}
	lookDirs(f, c)
	if c.Kallsyms != "" {
		f.early = startKallsyms(f.tree, c.Kallsyms, "")
	}
	keep := func(r *perfdata.Recording) {
		f.CloseWith(r)
		late := ""
		for _, d := range r.KcoreDirs() {
			if d.Late {
				late = d.Kallsyms
			}
		}
		for _, d := range r.KcoreDirs() {
			if f.early == nil && !d.Guest && !d.Late && d.Kallsyms != "" {
				f.early = startKallsyms(f.tree, d.Kallsyms, late)
			}
		}
	}
	if err := f.read(c, keep, f.take); err != nil {
		return err
	}
	f.placeBPF()
	f.coresight()
	bareTrace(f.Streams, f.auxInfo)
	f.configure(c)
	recorderClock(f)
	f.missing(c)
	if c.Model != (pt.Model{}) {
		f.Meta.PT.Model = c.Model
	}
	f.takeFilters(c)
	for _, r := range c.Raw {
		if err := f.fromRaw(r); err != nil {
			return err
		}
	}
	return nil
}

// bareTrace gives the streams that AUX areas hold as they are their protocol, by
// what AUXTRACE_INFO says; nil: it is not there.
func bareTrace(streams []*stream.Stream, info *perfdata.AuxInfo) {
	var auxType uint32
	if info != nil {
		auxType = uint32(info.Kind)
	}
	for _, st := range streams {
		if st.Protocol == nil {
			st.FromAux(auxType)
		}
	}
}

// fromRaw adds a file of bare trace as a stream; it takes the place of the
// recording's stream of that CPU.
func (f *facts) fromRaw(r RawTrace) error {
	file, err := f.tree.Open(r.Path)
	if err != nil {
		return err
	}
	f.CloseWith(file)
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a file: raw %s is read where it is needed, not from a pipe", r.Path, r.Protocol)
	}
	st := &stream.Stream{Protocol: r.Protocol, CPU: r.CPU, TID: -1, ID: r.ID, Unit: r.Unit, Size: info.Size(), File: r.Path, Data: stream.NewFile(file, info.Size())}
	for i, o := range f.Streams {
		if o.CPU == r.CPU && r.ID == "" {
			st.Losses = o.Losses
			f.Streams[i] = st
			f.Warnings = append(f.Warnings, Warning{What: fmt.Sprintf("%s: %d bytes, read instead of the %d of CPU %d in %s", r.Path, st.Size, o.Size, r.CPU, o.File)})
			return nil
		}
	}
	st.Losses = f.losses[r.CPU]
	f.Streams = append(f.Streams, st)
	f.otherTrace(st)
	return nil
}
