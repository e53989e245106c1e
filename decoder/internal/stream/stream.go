package stream

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/pt"
)

// Stream is one trace source's bytes and how to read them.
type Stream struct {
	Index    int
	Protocol *Protocol
	CPU      int32                 // -1: a thread's
	TID      int32                 // -1: a CPU's
	Size     int64                 // bytes
	Missing  int64                 // bytes that were to follow: the file is cut short
	ID       string                // CoreSight: the trace ID, hex; else ""
	Name     string                // for messages: "cpu0", "tid12", "id10"
	File     string                // where it comes from
	Unit     any                   // what its packets leave out: pt.Config, coresight.Config
	Clock    event.TimeConv        // CoreSight: of its timestamps
	Source   string                // CoreSight: the trace source's name, where it has one
	Core     string                // CoreSight: the core that it traces: name and type
	Buffer   string                // CoreSight: the buffer's name
	Losses   []Loss                // by Off
	Head     int64                 // bytes before the first sync point, which cannot be decoded
	Data     event.Bytes           // its bytes
	Origin   Origin                // where they stand in files; nil: not known
	Restarts []int64               // where the trace unit began anew, bytes, ascending
	Stored   []Storing             // when it was stored, as records tell; ascending; nil: not known
	Guest    int32                 // the process whose virtual machine executed it; 0: the host
	Part     func(Decoder) Decoder // what of its bytes is the stream's, where it shares them; nil: all
	find     *finding              // since Begin
	asked    asked
}

// PartOf returns the stream of what a virtual machine of a process executed. It shares
// st's bytes, of which part takes what belongs to it. It has not begun.
func (st *Stream) PartOf(guest int32, part func(Decoder) Decoder) *Stream {
	return &Stream{
		Protocol: st.Protocol, CPU: st.CPU, TID: st.TID, Size: st.Size, Missing: st.Missing, ID: st.ID, File: st.File, Unit: st.Unit, Clock: st.Clock,
		Losses: slices.Clone(st.Losses), Data: st.Data, Origin: st.Origin, Restarts: st.Restarts, Stored: st.Stored, Guest: guest, Part: part,
	}
}

// Storing is when a stretch of a stream was made and stored, by the clock of the
// records: from Off to the next.
type Storing struct {
	Off  int64 // bytes
	Time event.Time
}

// Recorded bounds a moment t of the trace, at off, by the clock of the records. Where
// the trace's own clock becomes that of the records, t says it. Else what is known is
// when the stretch was stored; event.Always if nothing is.
func (st *Stream) Recorded(off int64, t event.Time) event.Time {
	if st.Stored == nil || st.Clock.Valid {
		return t
	}
	i, found := slices.BinarySearchFunc(st.Stored, off, func(s Storing, o int64) int { return cmp.Compare(s.Off, o) })
	if !found {
		i--
	}
	if i < 0 {
		return event.Always
	}
	return st.Stored[i].Time
}

// Origin gives the file that the byte at off of a stream stands in, and where in
// it, bytes; ok is false where that is not known.
type Origin func(off int64) (file string, at int64, ok bool)

// Loss is a place where the recorder dropped trace.
type Loss struct {
	Off  int64 // bytes
	End  int64 // bytes; behind Off where what lies between has holes
	Why  string
	Time uint64 // ns; 0: not known
}

// Rules is how the stream's events are walked.
func (st *Stream) Rules() isa.Rules { return st.Protocol.Rules(st) }

// CoreSight returns the configuration of a CoreSight trace source, zero where the
// stream is none.
func (st *Stream) CoreSight() coresight.Config {
	c, _ := st.Unit.(coresight.Config)
	return c
}

// intelPT returns the configuration of an Intel PT stream.
func (st *Stream) intelPT() pt.Config {
	c, _ := st.Unit.(pt.Config)
	return c
}

// FileOff returns where the stream's byte at off stands: the name of a file, which
// of a perf.data directory need not be File, and an offset in it, bytes. ok is
// false where that is not known, or off itself says it.
func (st *Stream) FileOff(off int64) (file string, at int64, ok bool) {
	if st.Origin == nil {
		return "", 0, false
	}
	return st.Origin(off)
}

// Where renders a place in the stream for messages: its name and off, and what
// that is in a file.
func (st *Stream) Where(off int64) string {
	s := fmt.Sprintf("%s+0x%x", st.Name, off)
	if file, at, ok := st.FileOff(off); ok {
		s += fmt.Sprintf(" (%s+0x%x)", file, at)
	}
	return s
}
