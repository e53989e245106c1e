package decoder

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/pt"
)

// scenario is a file of testdata/flow, whose README.md tells its form.
type scenario struct {
	path     string
	story    string            // the comment
	sections map[string]string // by name
	text     []asmLine
	kallsyms string                 // of the labels, as a file
	streams  map[int]*stream.Stream // by CPU
}

// asmLine is an instruction of a text section.
type asmLine struct {
	addr  uint64
	bytes []byte
	asm   string
}

// scenarioPT is the trace unit of every scenario. Its TSC has 1 GHz, so a tick
// is a nanosecond. Its crystal has 8 MHz, with an MTC each 8 periods, so MTC n
// is microsecond n.
func scenarioPT() pt.Config {
	return pt.Config{TSC: true, MTC: true, MTCFreq: 3, CTCNum: 125, CTCDen: 1}
}

// readScenario reads a file of testdata/flow.
func readScenario(path string) (*scenario, error) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		return nil, err
	}
	sc := &scenario{path: path, story: string(archive.Comment), sections: map[string]string{}, streams: map[int]*stream.Stream{}}
	for _, f := range archive.Files {
		if sc.sections[f.Name] != "" {
			return nil, fmt.Errorf("section %s: there are two", f.Name)
		}
		sc.sections[f.Name] = string(f.Data)
	}
	for name, s := range sc.sections {
		word := strings.TrimRight(name, "0123456789")
		cpu, noCPU := strconv.Atoi(name[len(word):])
		switch {
		case noCPU == nil && scenarioTraces[word] != nil:
			st := &stream.Stream{Protocol: stream.IntelPT, CPU: int32(cpu), TID: -1}
			var b []byte
			b, err = scenarioTraces[word](st, s)
			st.Size, st.Data = int64(len(b)), stream.Memory(b)
			sc.streams[cpu] = st
		case !slices.Contains([]string{"text", "pokes", "told", "flow"}, name):
			err = errors.New("no section has that name")
		}
		if err != nil {
			return nil, fmt.Errorf("section %s: %w", name, err)
		}
	}
	return sc, sc.readText()
}

var (
	textLine  = regexp.MustCompile(`^([0-9a-f]{16})  ((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  +(.*))?$`)
	labelLine = regexp.MustCompile(`^(\S+):$`)
)

// plain takes the comment and the blanks around it off a line. An immediate
// operand (#0x1) is no comment.
func plain(line string) string {
	line, _, _ = strings.Cut(strings.TrimSpace(line)+" ", "# ")
	return strings.TrimSpace(line)
}

// readText reads the text section.
func (sc *scenario) readText() error {
	var labels []string
	for line := range strings.Lines(sc.sections["text"]) {
		line = plain(line)
		if line == "" {
			continue
		}
		if m := labelLine.FindStringSubmatch(line); m != nil {
			labels = append(labels, m[1])
			continue
		}
		m := textLine.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("text: %q: need an address, two blanks, bytes, two blanks, an instruction", line)
		}
		l := asmLine{asm: m[3]}
		l.addr, _ = strconv.ParseUint(m[1], 16, 64)
		for _, x := range strings.Fields(m[2]) {
			v, _ := strconv.ParseUint(x, 16, 8)
			l.bytes = append(l.bytes, byte(v))
		}
		sc.text = append(sc.text, l)
		for _, y := range labels {
			sc.kallsyms += fmt.Sprintf("%016x T %s\n", l.addr, y)
		}
		labels = nil
	}
	return nil
}

// memory is text by address.
type memory map[uint64]byte

// write puts data at addr, and nothing over what the old bytes have beyond it.
func (m memory) write(addr uint64, old, data []byte) {
	for i := range old {
		delete(m, addr+uint64(i))
	}
	for i, b := range data {
		m[addr+uint64(i)] = b
	}
}

// pieces returns the stretches of m.
func (m memory) pieces() (out []recording.Code) {
	for _, a := range slices.Sorted(maps.Keys(m)) {
		if n := len(out); n > 0 && out[n-1].Addr+uint64(len(out[n-1].Bytes)) == a {
			out[n-1].Bytes = append(out[n-1].Bytes, m[a])
			continue
		}
		out = append(out, recording.Code{Addr: a, Bytes: []byte{m[a]}})
	}
	return out
}

// facts returns what a recording of the scenario tells, but for its text.
func (sc *scenario) facts() (*recording.Recording, error) {
	f, err := recording.Lines(strings.NewReader(sc.sections["pokes"]), "pokes")
	if err != nil {
		return nil, err
	}
	f.Meta.PT = scenarioPT()
	for _, cpu := range slices.Sorted(maps.Keys(sc.streams)) {
		st := sc.streams[cpu]
		f.Streams = append(f.Streams, &stream.Stream{CPU: st.CPU, TID: st.TID, Protocol: st.Protocol, Unit: st.Unit, Size: st.Size, Data: st.Data})
	}
	return f, nil
}

// session is a session over the scenario with another image: its own if nil,
// and without pokes if so asked.
func (sc *scenario) session(t *testing.T, image memory, blind bool) *Session {
	t.Helper()
	f, err := sc.facts()
	if err != nil {
		t.Fatal(err)
	}
	if blind {
		f.Pokes = nil
	}
	if image == nil {
		image = sc.image()
	}
	f.Code = append(f.Code, image.pieces()...)
	s := &Session{rec: f, cfg: Config{Kallsyms: filepath.Join(t.TempDir(), "kallsyms")}}
	if err := os.WriteFile(s.cfg.Kallsyms, []byte(sc.kallsyms), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.assemble(); err != nil {
		t.Fatal(err)
	}
	return s
}

// image is the text section as memory.
func (sc *scenario) image() memory {
	m := memory{}
	for _, l := range sc.text {
		m.write(l.addr, nil, l.bytes)
	}
	return m
}

// flowLines renders a flow as the flow section has it.
type flowLines struct {
	sc    *scenario
	s     *Session
	cpus  []int            // by stream
	lines map[int][]string // by stream
}

func (f *flowLines) Flow(b *flow.Batch) error {
	add := func(ip uint64, word, what string) {
		f.lines[b.Stream] = append(f.lines[b.Stream], fmt.Sprintf("%d %016x %s %s", f.cpus[b.Stream], ip, word, what))
	}
	for n, r := range b.All() {
		switch {
		case r != nil:
			at := b.Stamps[r.Stamp].Time.Lo
			for _, ip := range appendOn(nil, r) {
				var text [15]byte
				n, _ := f.s.Text().Fetch(text[:], ip, r.Block.Span.From)
				add(ip, r.Verdict.String(), f.sc.insn(f.s, text[:n], ip, at))
			}
		case n.Kind == flow.NoteGap:
			add(n.Gap.IP, "gap", n.Gap.Reason.String())
		case n.Kind == flow.NoteTrap:
			poke := "no poke"
			if n.Poke >= 0 {
				poke = fmt.Sprintf("poke %d", n.Poke)
			}
			add(n.IP, "trap", fmt.Sprintf("%s, %s", n.Trap, poke))
		}
	}
	return nil
}

// flow decodes and returns the lines of the flow section.
func (sc *scenario) flow(t *testing.T, s *Session, q Query) (out []string) {
	t.Helper()
	f := &flowLines{sc: sc, s: s, lines: map[int][]string{}}
	for _, st := range s.streams {
		f.cpus = append(f.cpus, int(st.CPU))
	}
	if err := s.Flow(t.Context(), q, f); err != nil {
		t.Fatal(err)
	}
	for i := range f.cpus {
		out = append(out, f.lines[i]...)
	}
	return words(out)
}

// sureVerdicts is what the word sure stands for.
var sureVerdicts = regexp.MustCompile(`^(\d+ [0-9a-f]{16}) (?:certain|trace|exception) `)

// sameStep reports whether a line decoded is the one wanted.
func sameStep(got, want string) bool {
	return got == want || strings.Contains(want, " sure ") && sureVerdicts.ReplaceAllString(got, "$1 sure ") == want
}

// branchTarget is a named target as the disassembler writes it.
var branchTarget = regexp.MustCompile(`0x[0-9a-f]+ <([^>]+)>`)

// insn disassembles the instruction at the front of text; a target that has a
// name is written by its name alone.
func (sc *scenario) insn(s *Session, text []byte, addr, time uint64) string {
	line := s.Format(text, addr, s.mode, func(a uint64) (string, uint64) {
		if y, _, ok := s.symbols.Lookup(a, time); ok {
			return y.Name, y.Addr
		}
		return "", 0
	})
	return branchTarget.ReplaceAllString(line, "$1")
}

// words brings the blanks in lines to one each.
func words(lines []string) (out []string) {
	for _, l := range lines {
		if l = strings.Join(strings.Fields(plain(l)), " "); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// section returns the lines of a section without comments.
func (sc *scenario) section(name string) []string {
	return words(strings.Split(sc.sections[name], "\n"))
}

// told returns the lines of the told section: what is said of each poke, and
// what does not fit together.
func (sc *scenario) told(s *Session) (out []string) {
	for p := range s.Pokes() {
		ok := "ok"
		if p.Broken != nil {
			ok = fmt.Sprintf("break: have %x, want %x", p.Broken.Have, p.Broken.Want)
		}
		out = append(out, fmt.Sprintf("poke %d: %s, %s, %s", p.Index, p.Kind, p.Scheme, ok))
	}
	for _, f := range s.Text().Findings() {
		out = append(out, "finding: "+f.String())
	}
	return words(out)
}

// later returns the image after all pokes, and whether it can be known: not
// where text was changed without a record.
func (sc *scenario) later(s *Session) (memory, bool) {
	if len(s.Text().Findings()) > 0 || s.Text().Placement().Epoch != 0 {
		return nil, false
	}
	m := sc.image()
	for i := range s.code.Load().journal.Len() {
		p := s.code.Load().journal.Poke(i)
		m.write(p.Addr, p.Old, p.New)
	}
	return m, true
}

// TestTruthScenarios would catch a scheme of patching that is decoded otherwise
// than its story tells. That may be an old or a new instruction taken for the
// other, or a verdict too sure or not sure enough. It may be a trap given to
// the wrong poke, or a gap where there is none. The test would also catch a
// scenario that shows nothing: without its pokes each must come out
// differently. The flow sections are written by hand from the story, and there
// is no flag to rewrite them.
func TestTruthScenarios(t *testing.T) {
	files, err := filepath.Glob("../testdata/flow/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	one := os.Getenv("SCENARIO")
	if one != "" {
		files = []string{one}
	}
	readme, err := os.ReadFile("../testdata/flow/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			sc, err := readScenario(path)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			sc.test(t)
			if name := filepath.Base(t.Name()); one == "" && !strings.Contains(string(readme), "| `"+name+"` |") {
				t.Errorf("%s: README.md has no row for it", name)
			}
		})
	}
}

func (sc *scenario) test(t *testing.T) {
	if len(sc.story) < 200 {
		t.Errorf("%s: the comment on top tells no story", sc.path)
	}
	s := sc.session(t, nil, false)
	for _, l := range sc.text {
		if got := sc.insn(s, l.bytes, l.addr, 0); l.asm != "" && !slices.Equal(strings.Fields(got), strings.Fields(l.asm)) {
			t.Errorf("%s: text at %016x is %q, not %q", sc.path, l.addr, got, l.asm)
		}
	}
	want := sc.section("flow")
	check := func(what string, s *Session, q Query) {
		if got := sc.flow(t, s, q); !slices.EqualFunc(got, want, sameStep) {
			t.Errorf("%s: %s:\n%s", sc.path, what, against(want, got))
		}
	}
	check("as recorded", s, Query{Jobs: 1})
	check("each segment by itself", s, Query{Jobs: 4, SegmentBytes: 1})
	if m, ok := sc.later(s); ok {
		check("with an image taken after the last poke", sc.session(t, m, false), Query{Jobs: 1})
	}
	if s.code.Load().journal.Len() > 0 && slices.EqualFunc(sc.flow(t, sc.session(t, nil, true), Query{Jobs: 1}), want, sameStep) {
		t.Errorf("%s: the flow is the same without the pokes", sc.path)
	}
	if got := sc.told(s); !slices.Equal(got, sc.section("told")) {
		t.Errorf("%s: told of the pokes:\n%s", sc.path, against(sc.section("told"), got))
	}
}

// against shows two lists of lines, those that differ marked.
func against(want, got []string) string {
	var b strings.Builder
	for i := range max(len(want), len(got)) {
		w, g := "", ""
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w == g || sameStep(g, w) {
			fmt.Fprintf(&b, "    %s\n", g)
			continue
		}
		fmt.Fprintf(&b, " want %s\n  got %s\n", w, g)
	}
	return b.String()
}
