// Package summary says what a recording holds: of a session it makes one plain value,
// and prints it for people. As an object that value is what ptdecode info -o jsonl
// prints (docs/cli.md). Nothing is decoded.
package summary

import (
	"fmt"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Info is what a recording holds, as an object.
type Info struct {
	Type     string            `json:"type"`
	Name     string            `json:"name"`
	Kind     string            `json:"kind"`
	Host     string            `json:"host,omitempty"`
	Release  string            `json:"release,omitempty"`
	CPUName  string            `json:"cpu_name,omitempty"`
	CPUModel string            `json:"cpu_model,omitempty"`
	Command  string            `json:"command,omitempty"`
	Events   []attr            `json:"events,omitempty"`
	Buffers  []buffer          `json:"buffers,omitempty"`
	Streams  []stream          `json:"streams"`
	Config   *config           `json:"config,omitempty"` // of Intel PT
	Pokes    pokes             `json:"pokes"`
	Sources  []source          `json:"sources"`
	Image    image             `json:"image"`
	Symbols  int               `json:"symbols"`
	Records  map[string]uint64 `json:"records,omitempty"`
	Missing  []missing         `json:"missing,omitempty"`
}

type attr struct {
	Name   string `json:"name,omitempty"`
	Type   uint32 `json:"pmu"`
	Config string `json:"config"`
}

type stream struct {
	Name     string `json:"name"`
	CPU      int32  `json:"cpu"`
	TID      int32  `json:"tid"`
	ID       string `json:"id,omitempty"` // trace ID, hex
	Protocol string `json:"protocol"`
	Version  string `json:"version,omitempty"`
	Source   string `json:"source,omitempty"`
	Core     string `json:"core,omitempty"`
	Arch     string `json:"arch,omitempty"` // of the core
	Buffer   string `json:"buffer,omitempty"`
	File     string `json:"file"`
	Bytes    int64  `json:"bytes"`
	Segments int    `json:"segments"`
	Until    int64  `json:"segments_until,omitempty"` // bytes: segments that begin behind were not counted; 0: all were
	Head     int64  `json:"head"`                     // bytes before the first sync point
	Missing  int64  `json:"missing,omitempty"`        // bytes behind the last: the file is cut short
	From     uint64 `json:"from,omitempty"`
	To       uint64 `json:"to,omitempty"` // ns, of the last sync point
	Losses   []loss `json:"losses,omitempty"`
}

type buffer struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Format string `json:"format"`
	Bytes  int64  `json:"bytes"`
	Read   bool   `json:"read"` // it was asked for

	Missing bool  `json:"missing,omitempty"` // its file cannot be read
	Unowned int64 `json:"unowned,omitempty"` // bytes of data before the first trace ID
}

type loss struct {
	Off     int64  `json:"off"`                // bytes
	End     int64  `json:"end"`                // bytes
	File    string `json:"file,omitempty"`     // that the byte at off stands in, where off does not say it
	FileOff *int64 `json:"file_off,omitempty"` // bytes: off in that
	Why     string `json:"why"`
	Time    uint64 `json:"time,omitempty"` // ns
}

type config struct {
	TSC       bool   `json:"tsc"`
	MTC       bool   `json:"mtc"`
	CYC       bool   `json:"cyc"`
	MTCPeriod int    `json:"mtc_period,omitempty"` // crystal ticks
	CTCNum    uint32 `json:"tsc_ctc_num,omitempty"`
	CTCDen    uint32 `json:"tsc_ctc_den,omitempty"`
	Ratio     uint8  `json:"max_nonturbo_ratio,omitempty"`
	RetComp   bool   `json:"ret_compression"`
	NoTNT     bool   `json:"notnt"`
	Time      bool   `json:"time"`        // the timestamp counter converts to perf's clock
	Events    bool   `json:"event_trace"` // interrupts and exceptions are told (CFE, EVD)
	Snapshot  bool   `json:"snapshot"`
	Filter    string `json:"filter,omitempty"` // address filters, as perf writes them
}

type pokes struct {
	Total  int            `json:"total"`
	Broken int            `json:"broken"`
	Kinds  map[string]int `json:"kinds,omitempty"`
	From   uint64         `json:"from,omitempty"` // ns
	To     uint64         `json:"to,omitempty"`   // ns
}

type source struct {
	Kind string `json:"kind"`
	Path string `json:"path"`
}

type image struct {
	Ranges int    `json:"ranges"`
	Bytes  uint64 `json:"bytes"`
	Epoch  uint32 `json:"epoch"` // of which the image is, out of pokes.total
	Sites  int    `json:"sites"` // poked
	Held   int    `json:"held"`  // of which the image holds bytes
	Differ int    `json:"differ"`
}

type missing struct {
	What string `json:"what"`
	Hint string `json:"hint,omitempty"`
}

// maxCounted is how much of a stream is searched for segments, bytes.
const maxCounted = 64 << 20

// segmentsOf counts the segments of a stream. until is 0 where these are all, else where
// counting ended, bytes.
func segmentsOf(st *decoder.Stream) (n int, until int64) {
	for g := range st.Segments() {
		if g.Off >= maxCounted {
			return n, maxCounted
		}
		n++
	}
	return n, 0
}

// Gather collects what a session knows of its recording.
func Gather(s *decoder.Session) *Info {
	m := s.Meta()
	r := &Info{
		Type: "info", Name: s.Name(), Kind: m.Kind, Host: m.Host, Release: m.Release, CPUName: m.CPUModel, Command: m.Command,
		Records: m.Records, Streams: []stream{}, Sources: []source{},
	}
	if !hasCoreSight(s) && (len(r.Streams) > 0 || m.Machine != "aarch64") {
		r.Config = ptConfig(m)
	}
	if k := m.PT.Model; k.Family != 0 {
		r.CPUModel = fmt.Sprintf("%d/%d/%d", k.Family, k.Model, k.Stepping)
	}
	for _, a := range m.Attrs {
		r.Events = append(r.Events, attr{a.Name, a.Type, fmt.Sprintf("%#x", a.Config)})
	}
	for _, st := range s.Streams() {
		if st.Guest != 0 {
			continue // the host's bytes
		}
		x := stream{
			Name: st.Name, CPU: st.CPU, TID: st.TID, ID: st.ID, Protocol: st.Protocol.String(), Source: st.Source, Core: st.Core, Buffer: st.Buffer,
			File: st.File, Bytes: st.Size, Head: st.Head, Missing: st.Missing,
		}
		x.Segments, x.Until = segmentsOf(st)
		cs := st.CoreSight()
		if major, minor := cs.Version(); major != 0 {
			x.Version = fmt.Sprintf("%d.%d", major, minor)
		}
		if cs.Arch.Known() {
			x.Arch = cs.Arch.String()
		}
		if t := st.Time(); t.Known() && t.Hi != event.Always.Hi {
			x.From, x.To = t.Lo, t.Hi
		}
		for _, l := range st.Losses {
			y := loss{Off: l.Off, End: l.End, Why: l.Why, Time: l.Time}
			if file, at, ok := st.FileOff(l.Off); ok {
				y.File, y.FileOff = file, &at
			}
			x.Losses = append(x.Losses, y)
		}
		r.Streams = append(r.Streams, x)
	}
	for _, b := range s.Buffers() {
		r.Buffers = append(r.Buffers, buffer{b.Name, b.File, b.Format, b.Size, b.Read, b.Missing, b.Unowned})
	}
	for _, x := range s.Sources() {
		r.Sources = append(r.Sources, source(x))
	}
	for _, w := range s.Warnings() {
		r.Missing = append(r.Missing, missing{w.What, w.Hint})
	}
	if y := s.Symbols(); y != nil {
		r.Symbols = y.Len()
	}
	r.gatherCode(s)
	return r
}

// hasCoreSight reports whether some stream of s is CoreSight's.
func hasCoreSight(s *decoder.Session) bool {
	return len(s.Buffers()) > 0 || slices.ContainsFunc(s.Streams(), func(st *decoder.Stream) bool { return st.Protocol.TraceIDs })
}

// ptConfig collects how Intel PT was set up.
func ptConfig(m *decoder.Meta) *config {
	c := &config{
		TSC: m.PT.TSC, MTC: m.PT.MTC, CYC: m.PT.CYC, CTCNum: m.PT.CTCNum, CTCDen: m.PT.CTCDen, Ratio: m.PT.MaxNonTurboRatio,
		RetComp: !m.PT.NoRETComp, NoTNT: m.PT.NoTNT, Time: m.PT.TimeConv.Valid, Snapshot: m.Snapshot,
		Events: m.PT.EventTrace, Filter: m.Filter,
	}
	if m.PT.MTC {
		c.MTCPeriod = 1 << m.PT.MTCFreq
	}
	return c
}

// gatherCode collects what is known of the kernel's code.
func (r *Info) gatherCode(s *decoder.Session) {
	r.Pokes.Kinds = map[string]int{}
	for p := range s.Pokes() {
		if r.Pokes.Total++; r.Pokes.Total == 1 {
			r.Pokes.From = p.Time
		}
		r.Pokes.To = p.Time
		r.Pokes.Kinds[p.Kind.String()]++
		if p.Broken != nil {
			r.Pokes.Broken++
		}
	}
	for _, g := range s.Text().Image().Ranges() {
		r.Image.Ranges++
		r.Image.Bytes += g.Len
	}
	p := s.Text().Placement()
	r.Image.Epoch, r.Image.Sites, r.Image.Held, r.Image.Differ = uint32(p.Epoch), p.Sites, p.Held, p.Differ
}
