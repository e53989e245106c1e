package main

import (
	"bufio"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// newInfoCmd is the verb that says what a recording holds.
func newInfoCmd(a *app) *cobra.Command {
	return withObjects(&cobra.Command{
		Use:   "info REC",
		Short: "say what a recording holds, what is missing, and how to get it",
		Long: `Say what a recording holds: where it comes from, its trace streams and how they
were configured, and how many changes to the code it has of each kind. Say where
code and symbols come from, when the copy of the kernel was made, and what was
lost. Say what is missing, and what to do about it. Nothing is decoded.

The exit code is 3 where the recording is damaged.`,
		Example: `  ptdecode info perf.data
  ptdecode info snapshot/                           # sources, buffers, cores, and what is wrong with its files
  ptdecode info --pt 0:cpu0.pt --events e.jsonl --kcore kcore
  ptdecode info perf.data -o jsonl | jq .pokes`,
	}, a.info)
}

// info prints what a recording holds.
func (a *app) info(_ *cobra.Command, asJSON bool, args []string) error {
	s, err := a.sessionFor(args, func(*decoder.Warning) bool { return false }) // info prints them itself
	if err != nil {
		return err
	}
	defer s.Close()
	r := gatherInfo(s)
	if asJSON {
		err = printJSON(a.out, r)
	} else {
		w := bufio.NewWriter(a.out)
		printInfo(w, r)
		err = w.Flush()
	}
	if err != nil {
		return err
	}
	return a.whole(s, 0)
}

// info is what a recording holds, as an object.
type info struct {
	Type     string            `json:"type"`
	Name     string            `json:"name"`
	Kind     string            `json:"kind"`
	Host     string            `json:"host,omitempty"`
	Release  string            `json:"release,omitempty"`
	CPUName  string            `json:"cpu_name,omitempty"`
	CPUModel string            `json:"cpu_model,omitempty"`
	Command  string            `json:"command,omitempty"`
	Events   []infoEvent       `json:"events,omitempty"`
	Buffers  []infoBuffer      `json:"buffers,omitempty"`
	Streams  []infoStream      `json:"streams"`
	Config   *infoConfig       `json:"config,omitempty"` // of Intel PT
	Pokes    infoPokes         `json:"pokes"`
	Sources  []infoSource      `json:"sources"`
	Image    infoImage         `json:"image"`
	Symbols  int               `json:"symbols"`
	Records  map[string]uint64 `json:"records,omitempty"`
	Missing  []infoMissing     `json:"missing,omitempty"`
}

type infoEvent struct {
	Name   string `json:"name,omitempty"`
	Type   uint32 `json:"pmu"`
	Config string `json:"config"`
}

type infoStream struct {
	Name     string     `json:"name"`
	CPU      int32      `json:"cpu"`
	TID      int32      `json:"tid"`
	ID       string     `json:"id,omitempty"` // trace ID, hex
	Protocol string     `json:"protocol"`
	Version  string     `json:"version,omitempty"`
	Source   string     `json:"source,omitempty"`
	Core     string     `json:"core,omitempty"`
	Arch     string     `json:"arch,omitempty"` // of the core
	Buffer   string     `json:"buffer,omitempty"`
	File     string     `json:"file"`
	Bytes    int64      `json:"bytes"`
	Segments int        `json:"segments"`
	Head     int64      `json:"head"` // bytes before the first sync point
	From     uint64     `json:"from,omitempty"`
	To       uint64     `json:"to,omitempty"` // ns, of the last sync point
	Losses   []infoLoss `json:"losses,omitempty"`
}

type infoBuffer struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Format string `json:"format"`
	Bytes  int64  `json:"bytes"`
	Read   bool   `json:"read"` // it was asked for

	Missing bool  `json:"missing,omitempty"` // its file cannot be read
	Unowned int64 `json:"unowned,omitempty"` // bytes of data before the first trace ID
}

type infoLoss struct {
	Off     int64  `json:"off"`                // bytes
	End     int64  `json:"end"`                // bytes
	File    string `json:"file,omitempty"`     // that the byte at off stands in, where off does not say it
	FileOff *int64 `json:"file_off,omitempty"` // bytes: off in that
	Why     string `json:"why"`
	Time    uint64 `json:"time,omitempty"` // ns
}

type infoConfig struct {
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

type infoPokes struct {
	Total  int            `json:"total"`
	Broken int            `json:"broken"`
	Kinds  map[string]int `json:"kinds,omitempty"`
	From   uint64         `json:"from,omitempty"` // ns
	To     uint64         `json:"to,omitempty"`   // ns
}

type infoSource struct {
	Kind string `json:"kind"`
	Path string `json:"path"`
}

type infoImage struct {
	Ranges int    `json:"ranges"`
	Bytes  uint64 `json:"bytes"`
	Epoch  uint32 `json:"epoch"` // of which the image is, out of pokes.total
	Sites  int    `json:"sites"` // poked
	Held   int    `json:"held"`  // of which the image holds bytes
	Differ int    `json:"differ"`
}

type infoMissing struct {
	What string `json:"what"`
	Hint string `json:"hint,omitempty"`
}

// gatherInfo collects what a session knows of its recording.
func gatherInfo(s *decoder.Session) *info {
	m := s.Meta()
	r := &info{
		Type: "info", Name: s.Name(), Kind: m.Kind, Host: m.Host, Release: m.Release, CPUName: m.CPUModel, Command: m.Command,
		Records: m.Records, Streams: []infoStream{}, Sources: []infoSource{},
	}
	if !hasCoreSight(s) && (len(r.Streams) > 0 || m.Machine != "aarch64") {
		r.Config = ptConfig(m)
	}
	if k := m.PT.Model; k.Family != 0 {
		r.CPUModel = fmt.Sprintf("%d/%d/%d", k.Family, k.Model, k.Stepping)
	}
	for _, a := range m.Attrs {
		r.Events = append(r.Events, infoEvent{a.Name, a.Type, fmt.Sprintf("%#x", a.Config)})
	}
	for _, st := range s.Streams() {
		x := infoStream{
			Name: st.Name, CPU: st.CPU, TID: st.TID, ID: st.ID, Protocol: st.Protocol.String(), Source: st.Source, Core: st.Core, Buffer: st.Buffer,
			File: st.File, Bytes: st.Size, Segments: st.CountSegments(), Head: st.Head,
		}
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
			y := infoLoss{Off: l.Off, End: l.End, Why: l.Why, Time: l.Time}
			if file, at, ok := st.FileOff(l.Off); ok {
				y.File, y.FileOff = file, &at
			}
			x.Losses = append(x.Losses, y)
		}
		r.Streams = append(r.Streams, x)
	}
	for _, b := range s.Buffers() {
		r.Buffers = append(r.Buffers, infoBuffer{b.Name, b.File, b.Format, b.Size, b.Read, b.Missing, b.Unowned})
	}
	for _, x := range s.Sources() {
		r.Sources = append(r.Sources, infoSource(x))
	}
	for _, w := range s.Warnings() {
		r.Missing = append(r.Missing, infoMissing{w.What, w.Hint})
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
func ptConfig(m *decoder.Meta) *infoConfig {
	c := &infoConfig{
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
func (r *info) gatherCode(s *decoder.Session) {
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
