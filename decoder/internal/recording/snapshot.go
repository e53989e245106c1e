package recording

import (
	"fmt"
	"io/fs"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/snapshot"
)

// isSnapshot reports whether path is a directory with an Arm trace and debug
// snapshot in it, or with ini files and no perf.data: reading it tells what it
// lacks.
func isSnapshot(fsys fs.FS, path string) bool {
	if path == "" || path == "-" {
		return false
	}
	tree := files.Tree{FS: fsys}
	if _, err := tree.Stat(filepath.Join(path, "snapshot.ini")); err == nil {
		return true
	}
	if _, err := tree.Stat(filepath.Join(path, "data")); err == nil {
		return false
	}
	entries, _ := tree.ReadDir(path)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.EqualFold(filepath.Ext(e.Name()), ".ini") })
}

// readSnapshot takes all that a snapshot holds: streams, and the memory of its
// cores.
func (f *facts) readSnapshot(c *Config) error {
	snap, err := snapshot.Open(c.FS, c.Recording)
	if err != nil {
		return err
	}
	f.Name, f.Meta.Kind, f.noAux = c.Recording, KindSnapshot, false
	for _, p := range snap.Problems {
		f.Damagedf(p.Hint, "%s/%s", filepath.Clean(c.Recording), p)
	}
	f.tickFreq = snap.TimestampFreq
	if err := f.snapshotBuffers(c, snap); err != nil {
		return err
	}
	f.dumps(snap)
	return nil
}

// snapshotBuffers takes the streams of the buffers that c asks for; where it
// asks for none, of the first that has a section, as OpenCSD's tools do.
func (f *facts) snapshotBuffers(c *Config, snap *snapshot.Snapshot) error {
	var names []string
	found, first := false, 0
	for i := range snap.Buffers {
		if snap.Buffers[i].Line < snap.Buffers[first].Line {
			first = i
		}
	}
	for i := range snap.Buffers {
		b := &snap.Buffers[i]
		names = append(names, b.Name)
		x := Buffer{Name: b.Name, File: b.File, Format: b.Format, Size: b.Size, Missing: b.Missing}
		if x.Read = c.AllBuffers || c.Buffer == b.Name || c.Buffer == "" && i == first; x.Read {
			found = true
			x.Unowned = f.snapshotBuffer(b, snap)
			x.Missing = b.Missing
		}
		f.Buffers = append(f.Buffers, x)
	}
	if found || c.Buffer == "" {
		return nil // what is missing is among its problems
	}
	return callf("--buffer %s: no such trace buffer in %s; there is %s", c.Buffer, c.Recording, strings.Join(names, ", "))
}

// snapshotBuffer takes the streams of one buffer. It returns how many bytes of
// data belong to none.
func (f *facts) snapshotBuffer(b *snapshot.Buffer, snap *snapshot.Snapshot) (unowned int64) {
	if b.Missing {
		return 0
	}
	data, err := snap.ReadBuffer(b)
	if err != nil {
		f.Damagedf(hintBuffer, "%v", err)
		b.Missing = true
		return 0
	}
	if !b.Framed {
		for _, i := range b.Sources[:min(1, len(b.Sources))] {
			f.source(snap, &snap.Sources[i], b, coresight.RawStream(snap.Sources[i].Config.ID, data))
		}
		return 0
	}
	d := coresight.Deframe(b.Frames, data)
	file := filepath.Join(snap.Dir, b.File)
	list, more := d.Troubles()
	for _, t := range list[:min(maxTold, len(list))] {
		f.Damagedf(hintFormat, "%s%v", file, t)
	}
	if more += len(list) - maxTold; more > 0 {
		f.Damagedf(hintFormat, "%s+0x0: frames: %s", file, plural.Count(more, "more such place"))
	}
	known := map[uint8]bool{}
	for _, i := range b.Sources {
		id := snap.Sources[i].Config.ID
		if known[id] {
			continue // told of as a problem
		}
		known[id] = true
		st := d.Stream(id)
		if st == nil {
			st = coresight.RawStream(id, nil)
		}
		f.source(snap, &snap.Sources[i], b, st)
	}
	f.strangers(file, d, known, snap, b)
	return d.Unowned()
}

// strangers tells of trace in a buffer that is of no known source. It may be
// that of a source with a wrong trace ID, of which the buffer has nothing.
func (f *facts) strangers(file string, d *coresight.Deframer, known map[uint8]bool, snap *snapshot.Snapshot, b *snapshot.Buffer) {
	var ids []string
	size := 0
	for _, st := range d.Streams() {
		if !known[st.ID] {
			ids = append(ids, fmt.Sprintf("%x", st.ID))
			size += len(st.Data)
		}
	}
	if len(ids) == 0 {
		return
	}
	if n := len(ids) - maxTold; n > 0 {
		ids = append(ids[:maxTold], fmt.Sprintf("and %d more", n))
	}
	f.Damagedf("name them under [source_buffers], each with its device's ini file; or the buffer is in another format than its section says",
		"%s+0x0: trace IDs %s: %s of sources that no configuration names", file, strings.Join(ids, ", "), plural.Count(size, "byte"))
	for _, i := range b.Sources {
		s := &snap.Sources[i]
		if s.Usable && d.Stream(s.Config.ID) == nil {
			f.Warnf(fmt.Sprintf("if it was traced, correct its trace ID there: the buffer has %s", strings.Join(ids, ", ")),
				"%s: %s has trace ID %x, of which buffer %s has no byte", filepath.Join(snap.Dir, snap.IDPlace(s)), s.Name, s.Config.ID, b.Name)
		}
	}
}

// ticksOf turns ticks of a frequency, Hz, into nanoseconds. Without one they are
// taken as nanoseconds.
func ticksOf(freq uint64) (c event.TimeConv) {
	const second = 1e9
	if freq == 0 || freq == second {
		return c
	}
	for shift := uint16(62); ; shift-- {
		hi, lo := bits.Mul64(second, 1<<shift)
		if hi >= freq {
			continue
		}
		if mult, _ := bits.Div64(hi, lo, freq); mult <= math.MaxUint32 || shift == 0 {
			return event.TimeConv{Shift: shift, Mult: uint32(min(mult, math.MaxUint32)), Valid: mult > 0}
		}
	}
}

// recorderClock makes a snapshot's timestamps the time of the records of a recorder
// that ran meanwhile, where its event stream says how its clock follows the counter.
// Both began to count when the machine started.
func recorderClock(f *facts) {
	if f.Meta.Kind != KindSnapshot || f.timeConv == nil || !f.timeConv.Valid {
		return
	}
	for _, st := range f.Streams {
		if st.Clock.Zero = f.timeConv.Zero; f.tickFreq == 0 {
			st.Clock = *f.timeConv
		} else if !st.Clock.Valid {
			st.Clock.Mult, st.Clock.Valid = 1, true
		}
	}
}

// maxTold bounds how many places of one kind are told, one by one.
const maxTold = 10

// What to do about a snapshot.
const (
	hintBuffer = "make the trace buffer's file readable or copy it again, or name another with --buffer NAME"
	hintDump   = "make the dump's file readable or copy it again; the text that it lacks is unknown, and flow through it shows as gaps"
	hintFormat = "the buffer may be in another format than its section in trace.ini says, or cut; what is whole is read"
)

// source takes the stream of a source of a snapshot.
func (f *facts) source(snap *snapshot.Snapshot, s *snapshot.Source, b *snapshot.Buffer, data *coresight.Stream) {
	if !s.Usable {
		return // a problem says why
	}
	st := &stream.Stream{
		Protocol: stream.ForUnit(s.Config.Protocol), CPU: -1, TID: -1, ID: fmt.Sprintf("%x", s.Config.ID), Size: int64(len(data.Data)),
		File: filepath.Join(snap.Dir, b.File), Unit: s.Config, Clock: ticksOf(snap.TimestampFreq), Source: s.Name, Core: s.Core, Buffer: b.Name, Data: stream.Memory(data.Data),
	}
	st.Origin = func(off int64) (string, int64, bool) { return st.File, data.SourceOff(off), true }
	if d, ok := snap.Device(s.Core); ok && d.Type != "" {
		st.Core += " (" + d.Type + ")"
	}
	for _, k := range data.Breaks {
		st.Losses = append(st.Losses, stream.Loss{Off: k.Off, End: k.Off, Why: k.Fault.String()})
	}
	f.Streams = append(f.Streams, st)
}
