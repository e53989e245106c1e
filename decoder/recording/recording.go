package recording

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/decoder/stream"
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
	Ksymbols []symbols.KsymbolRecord
	Breaks   []uint64     // entries of the breakpoint exception's handler
	Dumps    *image.Image // memory that the recording itself holds; nil: none
	Code     []Code       // that the recording itself holds, over the dumps; what comes later lies on top
	Kernel   Kernel
	Filters  []Filter // by which the trace unit filtered

	Lost       []event.Time // when records were lost
	LostAt     Place        // of the first record that says so
	CompleteTo uint64       // ns: up to here no record is missing
	Converts   bool         // the trace's clock becomes that of the records

	Beside TextFiles    // that lie beside the recording
	Taken  *event.Time  // when the image was copied, ns; nil: not known
	Late   *image.Image // of the end; nil: none but what the call names
	early  *earlyKallsyms

	Warnings []Warning
	closers  []io.Closer
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
	return &Recording{Meta: Meta{Kind: "raw"}, Processes: process.New(c.SymFS, c.BuildIDs), WrittenBy: map[int32]uint64{}, CompleteTo: math.MaxUint64}
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

// OpenKallsyms returns the symbols at path, which may have been read while the
// records were.
func (r *Recording) OpenKallsyms(path string) (*symbols.Kallsyms, error) { return r.early.open(path) }

// gather collects the facts from all that c names.
func (f *facts) gather(c *Config) error {
	if (c.Buffer != "" || c.AllBuffers) && !isSnapshot(c.Recording) {
		return callf("--buffer and --all-buffers are for snapshots: a directory with a snapshot.ini")
	}
	if c.Recording == "" && len(c.Raw) == 0 && c.Events == "" && c.Kcore == "" && len(c.Code) == 0 {
		return errors.New("nothing to open: name a recording or raw parts")
	}
	if c.Kallsyms != "" {
		f.early = startKallsyms(c.Kallsyms)
	}
	keep := func(r *perfdata.Recording) {
		f.CloseWith(r)
		for _, d := range r.KcoreDirs() {
			if f.early == nil && !d.Guest && d.Kallsyms != "" {
				f.early = startKallsyms(d.Kallsyms)
			}
		}
	}
	if err := f.read(c, keep, f.take); err != nil {
		return err
	}
	f.placeBPF()
	f.coresight()
	f.configure()
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

// fromRaw adds a file of bare trace as a stream; it takes the place of the
// recording's stream of that CPU.
func (f *facts) fromRaw(r RawTrace) error {
	file, err := os.Open(r.Path)
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
	st := &stream.Stream{Protocol: r.Protocol, CPU: r.CPU, TID: -1, Size: info.Size(), File: r.Path, Data: stream.NewFile(file, info.Size())}
	for i, o := range f.Streams {
		if o.CPU == r.CPU {
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

// earlyKallsyms is a kallsyms that is read while the records are.
type earlyKallsyms struct {
	path string
	done chan struct{}
	syms *symbols.Kallsyms
	err  error
}

// startKallsyms begins to read a kallsyms.
func startKallsyms(path string) *earlyKallsyms {
	e := &earlyKallsyms{path: path, done: make(chan struct{})}
	go func() {
		defer close(e.done)
		e.syms, e.err = symbols.OpenKallsyms(path)
	}()
	return e
}

// open returns the kallsyms at path, which e may have read already.
func (e *earlyKallsyms) open(path string) (*symbols.Kallsyms, error) {
	if e == nil || e.path != path {
		return symbols.OpenKallsyms(path)
	}
	<-e.done
	return e.syms, e.err
}
