package decoder

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore"
)

// linkFS is a folder of recordings whose links may be small files that name their
// target, as some copies of them have it.
type linkFS struct{ fs.FS }

// Open opens a file, or what it is a link to.
func (l linkFS) Open(name string) (fs.File, error) {
	f, err := l.FS.Open(name)
	if err != nil || path.Ext(name) != ".bin" {
		return f, err
	}
	if st, err := f.Stat(); err != nil || st.Size() > 100 {
		return f, err
	}
	b, err := io.ReadAll(f)
	if err := f.Close(); err != nil {
		return nil, err
	}
	if target := path.Join(path.Dir(name), string(b)); err == nil && strings.HasPrefix(string(b), "../") {
		return l.FS.Open(target)
	}
	return l.FS.Open(name)
}

// armRoot returns the folder of the recordings of Arm kernels.
func armRoot(t *testing.T) string { return filepath.Join(dataDir(t), "kernel-pokes-arm64") }

// hwbp is the call for the kernel that recorded itself by breakpoints.
func hwbp(root, rec string) Config {
	return Config{
		Recording: rec, Kallsyms: filepath.Join(root, "text", "a57.kallsyms"),
		Code: []CodeFile{{Path: filepath.Join(root, "text", "a57-perf.bin"), Addr: 0xffff800080010000}},
	}
}

// armSum is what a window's golden.json says of a trace ID.
type armSum struct {
	Instructions uint64
	SHA256       string
}

// armGoldens reads golden.json: by window, variant, trace ID.
func armGoldens(t *testing.T, root string) (g map[string]map[string]map[string]armSum) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "golden.json"))
	if err == nil {
		err = json.Unmarshal(b, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ran compares what ran with golden.json.
func ran(t *testing.T, s *Session, want map[string]armSum) {
	t.Helper()
	got := flowed(t, s, newSums())
	for _, st := range s.Streams() {
		w, ok := want[st.ID]
		if !ok {
			t.Errorf("trace ID %s: golden.json has none", st.ID)
			continue
		}
		got.check(t, st.Index, w.Instructions, w.SHA256)
	}
	if len(s.Streams()) != len(want) {
		t.Errorf("%d streams, want %d", len(s.Streams()), len(want))
	}
	got.report(t)
}

// journalPokes reads the pokes of an event stream.
func journalPokes(t *testing.T, file string) []kcore.Poke {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := recording.Lines(f, file)
	if err != nil {
		t.Fatal(err)
	}
	return r.Pokes
}

// TestBreakpointPokes would catch a change to the code of a stock Arm kernel that its
// recording by breakpoints shows and no poke states. It would catch another address,
// word, order or code before, and a slot taken for code that runs. It would also catch
// a time that the store did not keep.
func TestBreakpointPokes(t *testing.T) {
	root := armRoot(t)
	s := opened(t, hwbp(root, filepath.Join(root, "perf", "hwbp.data")))
	want := journalPokes(t, filepath.Join(root, "a57-hwbp-jump", "journal-perf.jsonl"))
	var got []PokeInfo
	schemes, stored := map[kcore.Scheme]int{}, map[kcore.Scheme]int{}
	for p := range s.Pokes() {
		got = append(got, p)
		schemes[p.Scheme]++
		if p.Stored != kcore.SchemeNone {
			stored[p.Stored]++
		}
		if p.Broken != nil {
			t.Errorf("%d: %v", p.Index, p.Broken)
		}
	}
	if len(got) != len(want) || schemes[kcore.SchemeSlot] != 12 || schemes[kcore.SchemeStop] != 12 || schemes[kcore.SchemeAtomic]+stored[kcore.SchemeAtomic] != 260 {
		t.Fatalf("%d pokes, %v, stored by %v; want %d", len(got), schemes, stored, len(want))
	}
	for i, p := range got {
		w := want[i]
		if p.Addr != w.Addr || !bytes.Equal(p.Old, w.Old) || !bytes.Equal(p.New, w.New) || p.CPU != w.CPU {
			t.Errorf("%d: cpu %d %x: %x to %x; want cpu %d %x: %x to %x", i, p.CPU, p.Addr, p.Old, p.New, w.CPU, w.Addr, w.Old, w.New)
		}
	}
	const zero = 86527760 // ns: what the windows' clock is ahead of perf's
	for _, window := range []string{"a57-hwbp-jump", "a57-hwbp-ftrace-on"} {
		lines, err := os.ReadFile(filepath.Join(root, window, "truth.stores"))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(lines)) {
			var at, alias, phys, value uint64
			var cpu, size int
			if _, err := fmt.Sscanf(line, "%d %d %d %x %x %x", &at, &cpu, &size, &alias, &phys, &value); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			at -= zero
			word := binary.LittleEndian.AppendUint64(nil, value)[:size]
			k := slices.IndexFunc(got, func(p PokeInfo) bool { // times of changes to one word do not overlap
				return p.Begin <= at && at <= p.Time && p.Addr&0xfff == phys&0xfff && bytes.Equal(p.New, word) && p.CPU == cpu && at-p.Begin < 20_000
			})
			if n++; k < 0 {
				t.Errorf("%s: no poke for the store %s", window, line)
			} else if got[k].Time-at > 4000 && size == 4 && n < 200 && at-got[k].Begin < 3000 && got[k].End-got[k].Time > 1_000_000 {
				t.Errorf("%s: store at %d, poke said to be done at %d", window, at, got[k].Time)
			}
		}
		t.Logf("%s: %d stores", window, n)
	}
}

// TestBreakpointWindows would catch pokes out of breakpoints that lead the flow of a
// trace of the same time astray. They are given as events to the snapshot, whose
// timestamps become the clock of the records.
func TestBreakpointWindows(t *testing.T) {
	root := armRoot(t)
	var events bytes.Buffer
	if _, err := WriteEvents(hwbp(root, filepath.Join(root, "perf", "hwbp.data")), &events); err != nil {
		t.Fatal(err)
	}
	held := overlayFS{linkFS{os.DirFS(root)}, map[string][]byte{"events.jsonl": events.Bytes()}}
	goldens := armGoldens(t, root)
	for _, c := range []struct {
		name string
		full bool
	}{{"a57-hwbp-jump/fine", false}, {"a57-hwbp-jump/coarse-rs", true}, {"a57-hwbp-ftrace-on/fine", false}, {"a57-hwbp-ftrace-on/coarse-rs", true}} {
		if c.full && !testsize.Full(t) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			window, variant := path.Split(c.name)
			s := opened(t, Config{FS: held, Recording: c.name, Events: "events.jsonl"})
			ran(t, s, goldens[path.Clean(window)][variant])
		})
	}
}

// TestArmJournals would catch a window of the Arm kernels that does not decode with
// its true journal. In two streams the likeliest way is another; there the check is
// of how many instructions are printed, not of which.
func TestArmJournals(t *testing.T) {
	root := armRoot(t)
	held := linkFS{os.DirFS(root)}
	for window, variants := range armGoldens(t, root) {
		for variant, want := range variants {
			if !testsize.Full(t) && (window != "a57-kprobe" || variant != "fine") {
				continue
			}
			t.Run(window+"/"+variant, func(t *testing.T) {
				s := opened(t, Config{FS: held, Recording: window + "/" + variant, AllBuffers: variant == "ete-raw", Events: window + "/journal.jsonl"})
				if window == "max-jump" && strings.HasPrefix(variant, "coarse") {
					got := flowed(t, s, newSums())
					if n := want["11"].Instructions; got.n[1] != n {
						t.Errorf("ID 11: %d instructions, want %d", got.n[1], n)
					}
					got.check(t, 0, want["10"].Instructions, want["10"].SHA256)
					return
				}
				ran(t, s, want)
			})
		}
	}
}

// overlayFS is an fs.FS with some files more.
type overlayFS struct {
	fs.FS
	more map[string][]byte
}

// Open opens a file.
func (o overlayFS) Open(name string) (fs.File, error) {
	if b, ok := o.more[name]; ok {
		return fstest.MapFS{name: {Data: b}}.Open(name)
	}
	return o.FS.Open(name)
}

// TestProbePokes would catch a change that the samples of probes show and no poke
// states. One is of a jump label, by its entry, one of a kprobe, whose word is stop_machine's
// argument. Behind a store of which only the mapping is seen, code is unknown.
func TestProbePokes(t *testing.T) {
	root := armRoot(t)
	known := map[string]bool{}
	for _, p := range journalPokes(t, filepath.Join(root, "a57-hwbp-jump", "journal-perf.jsonl")) {
		known[fmt.Sprintf("%x %x", p.Addr, p.New)] = true
	}
	for _, c := range []struct {
		name             string
		jumps, stops, by int // jump labels, kprobes, stores of which only the address is seen
	}{{"perf", 210, 0, 28}, {"perf2", 10, 12, 0}} {
		t.Run(c.name, func(t *testing.T) {
			w := &perfWriter{}
			var counts map[string]int
			for _, script := range testsize.Files(t, filepath.Join(root, "perf", c.name+".script.zst")) {
				counts = w.script(t, script)
			}
			s := opened(t, hwbp(root, w.write(t)))
			got := map[kcore.Scheme]int{}
			var begin uint64
			for p := range s.Pokes() {
				if got[p.Scheme]++; p.Broken != nil {
					t.Errorf("%d: %v", p.Index, p.Broken)
				}
				if begin > p.Begin {
					t.Errorf("%d: out of order", p.Index)
				}
				if begin = p.Begin; p.Scheme == kcore.SchemeUnsafe {
					if p.New != nil || p.Range().Len != 4 {
						t.Errorf("%x: %x of %d bytes", p.Addr, p.New, p.Range().Len)
					}
					continue
				}
				if !known[fmt.Sprintf("%x %x", p.Addr, p.New)] {
					t.Errorf("%x: %s: no such change in the recording by breakpoints", p.Addr, hex.EncodeToString(p.New))
				}
				if len(p.Old) != 4 || bytes.Equal(p.Old, p.New) || p.Begin >= p.Time || p.Time > p.End {
					t.Errorf("%x: %x to %x, %d to %d, done %d", p.Addr, p.Old, p.New, p.Begin, p.End, p.Time)
				}
			}
			if got[kcore.SchemeAtomic] != c.jumps || got[kcore.SchemeStop] != c.stops || got[kcore.SchemeUnsafe] != c.by || counts["jl"] != c.jumps || counts["sm"] != c.stops {
				t.Errorf("%v of %v, want %+v", got, counts, c)
			}
		})
	}
}
