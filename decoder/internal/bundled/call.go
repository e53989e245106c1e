// Package bundled opens what a Config names, also where that is a bundle
// (docs/formats/bundle.md): the Config becomes what the bundle was made of.
package bundled

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/addrfilter"
	"github.com/ptdecode/ptdecode/decoder/internal/bundle"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/pt"
)

// Call is the part of a recording.Config that a bundle keeps (docs/formats/bundle.md).
type Call struct {
	Recording    string               `json:"recording,omitempty"`
	Raw          []CallRaw            `json:"raw,omitempty"`
	Code         []recording.CodeFile `json:"code,omitempty"`
	Kcore        string               `json:"kcore,omitempty"`
	Late         string               `json:"late,omitempty"`
	Kallsyms     string               `json:"kallsyms,omitempty"`
	Modules      string               `json:"modules,omitempty"`
	Events       string               `json:"events,omitempty"`
	Model        *pt.Model            `json:"model,omitempty"`
	Filters      []addrfilter.Filter  `json:"filters,omitempty"`
	Buffer       string               `json:"buffer,omitempty"`
	AllBuffers   bool                 `json:"all_buffers,omitempty"`
	CheckOpcodes bool                 `json:"check_opcodes,omitempty"`
	Mode         isa.Mode             `json:"mode,omitempty"`
	ClockError   uint64               `json:"clock_error,omitempty"` // ns
	NoLearn      bool                 `json:"no_learn,omitempty"`
	LearnPasses  int                  `json:"learn_passes,omitempty"`
	Learned      string               `json:"learned,omitempty"`
	SymFS        string               `json:"symfs,omitempty"`
	BuildIDs     []string             `json:"build_ids,omitempty"`
}

// CallRaw is a recording.RawTrace in a Call.
type CallRaw struct {
	Protocol string `json:"protocol"` // its RawFlag
	CPU      int32  `json:"cpu"`
	Path     string `json:"path"`
}

// CallOf returns what a bundle keeps of c.
func CallOf(c *recording.Config) *Call {
	k := &Call{
		Recording: c.Recording, Code: c.Code, Kcore: c.Kcore, Late: c.Late, Kallsyms: c.Kallsyms, Modules: c.Modules,
		Events: c.Events, Filters: c.Filters, Buffer: c.Buffer, AllBuffers: c.AllBuffers, CheckOpcodes: c.CheckOpcodes,
		Mode: c.Mode, ClockError: c.ClockError, NoLearn: c.NoLearn, LearnPasses: c.LearnPasses, Learned: c.Learned,
		SymFS: c.SymFS, BuildIDs: c.BuildIDs,
	}
	if c.Model != (pt.Model{}) {
		m := c.Model
		k.Model = &m
	}
	for _, r := range c.Raw {
		k.Raw = append(k.Raw, CallRaw{r.Protocol.RawFlag, r.CPU, r.Path})
	}
	return k
}

// EachPath calls edit with each path of the call and what it is for.
func (k *Call) EachPath(edit func(role string, path *string)) {
	one := func(role string, path *string) {
		if *path != "" {
			edit(role, path)
		}
	}
	one("recording", &k.Recording)
	for i := range k.Raw {
		one(k.Raw[i].Protocol, &k.Raw[i].Path)
	}
	for i := range k.Code {
		one("text", &k.Code[i].Path)
	}
	one("kcore", &k.Kcore)
	one("late", &k.Late)
	one("kallsyms", &k.Kallsyms)
	one("modules", &k.Modules)
	one("events", &k.Events)
	one("learned", &k.Learned)
	one("symfs", &k.SymFS)
	for i := range k.BuildIDs {
		one("buildid", &k.BuildIDs[i])
	}
}

// Read is recording.Read. Where c names a bundle, c becomes what the bundle was made of.
func Read(c *recording.Config) (*recording.Recording, error) {
	if err := Unpack(c); err != nil {
		return nil, err
	}
	return recording.Read(c)
}

// WriteEvents is recording.WriteEvents, also of a bundle.
func WriteEvents(c recording.Config, w io.Writer) ([]recording.Warning, error) {
	if err := Unpack(&c); err != nil {
		return nil, err
	}
	return recording.WriteEvents(c, w)
}

// Unpack is done before a recording.Config is read: where c.Recording is a bundle, c becomes
// what the bundle was made of, with what c says besides over it. The bundle's members
// may take c.Memory.
func Unpack(c *recording.Config) error {
	most := max(cmp.Or(c.Memory, defaultMemory), leastMemory)
	if c.Recording == "-" && c.Stdin != nil {
		in := bufio.NewReader(c.Stdin)
		c.Stdin = in
		if head, _ := in.Peek(bundle.HeadSize); !bundle.Begins(head) {
			return nil
		}
		return fromReader(c, in, "stdin", most)
	}
	outer := files.Tree{FS: c.FS}
	if c.Recording == "" || !bundle.Is(outer, c.Recording) {
		return nil
	}
	f, err := outer.Open(c.Recording)
	if err != nil {
		return err
	}
	defer f.Close()
	return fromReader(c, f, c.Recording, most)
}

// fromReader is Unpack for the bundle that r reads.
func fromReader(c *recording.Config, r io.Reader, name string, most int64) error {
	t, err := bundle.Read(r, name, most)
	if err != nil {
		return err
	}
	return FromTree(c, t)
}

// What a bundle's members may take where the call does not say, and at least, bytes.
const (
	defaultMemory = 1 << 30
	leastMemory   = 64 << 20
)

// FromTree is Unpack for a bundle that was read: c.Recording is its name.
func FromTree(c *recording.Config, t *bundle.Tree) error {
	var k Call
	if err := json.Unmarshal(t.Call, &k); err != nil {
		return &badfile.Error{File: c.Recording, What: "bundle: call", Err: err}
	}
	given := *c
	given.Recording = ""
	CallOf(&given).EachPath(func(_ string, path *string) { t.Given = append(t.Given, *path) })
	for _, g := range c.Guests {
		t.Given = append(t.Given, g.Recording)
	}
	t.Outer = files.Tree{FS: c.FS}
	b := recording.Config{
		FS: t, Stdin: c.Stdin, Memory: c.Memory,
		Recording: k.Recording, Code: append(k.Code, c.Code...), Kcore: cmp.Or(c.Kcore, k.Kcore), Late: cmp.Or(c.Late, k.Late),
		Kallsyms: cmp.Or(c.Kallsyms, k.Kallsyms), Modules: cmp.Or(c.Modules, k.Modules), Events: cmp.Or(c.Events, k.Events),
		Model: c.Model, Filters: k.Filters, Buffer: cmp.Or(c.Buffer, k.Buffer), AllBuffers: c.AllBuffers || k.AllBuffers && c.Buffer == "",
		CheckOpcodes: c.CheckOpcodes || k.CheckOpcodes, Mode: cmp.Or(c.Mode, k.Mode), ClockError: cmp.Or(c.ClockError, k.ClockError),
		NoLearn: c.NoLearn || k.NoLearn, LearnPasses: cmp.Or(c.LearnPasses, k.LearnPasses), Learned: cmp.Or(c.Learned, k.Learned),
		SymFS: cmp.Or(c.SymFS, k.SymFS), BuildIDs: append(c.BuildIDs, k.BuildIDs...), Guests: c.Guests, NoDemangle: c.NoDemangle,
	}
	if c.Kcore != "" && c.Late == "" {
		b.Late = "" // one kcore in place of both
	}
	if b.AllBuffers && c.AllBuffers {
		b.Buffer = ""
	}
	if len(c.Filters) > 0 {
		b.Filters = c.Filters
	}
	if k.Model != nil && c.Model == (pt.Model{}) {
		b.Model = *k.Model
	}
	for _, r := range k.Raw {
		all := stream.Protocols()
		i := slices.IndexFunc(all, func(p *stream.Protocol) bool { return p.RawFlag != "" && p.RawFlag == r.Protocol })
		if i < 0 {
			return &badfile.Error{File: c.Recording, What: fmt.Sprintf("bundle: call: protocol %q is not known", r.Protocol)}
		}
		b.Raw = append(b.Raw, recording.RawTrace{Protocol: all[i], CPU: r.CPU, Path: r.Path})
	}
	for _, r := range c.Raw { // in place of the bundle's of that CPU
		b.Raw = append(slices.DeleteFunc(b.Raw, func(o recording.RawTrace) bool { return o.CPU == r.CPU }), r)
	}
	*c = b
	return nil
}
