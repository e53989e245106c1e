package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/hot"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// testHost is a command that opens c and prints to out.
func testHost(c decoder.Config, out io.Writer) *host.Host {
	return &host.Host{
		Out: out, Say: func(string, ...any) {}, Hint: func(string, ...any) {},
		Open:  func([]string) (*decoder.Session, error) { return decoder.Open(c) },
		Whole: func(*decoder.Session, uint64) error { return nil },
		Filters: func(*cobra.Command) func(*decoder.Session) (*host.Filter, error) {
			return func(s *decoder.Session) (*host.Filter, error) {
				f := &host.Filter{}
				for i, st := range s.Streams() {
					f.Streams = append(f.Streams, rows.Stream{Index: i, CPU: st.CPU, TID: st.TID, Name: st.Name})
				}
				return f, nil
			}
		},
		Nothing: func(*decoder.Session, *host.Filter, string) {},
		Share: func(*cobra.Command) func(*decoder.Session, decoder.Query, []string) (bool, error) {
			return func(*decoder.Session, decoder.Query, []string) (bool, error) { return false, nil }
		},
		Deliver: func(ctx context.Context, s *decoder.Session, q decoder.Query, sink host.Sink) error {
			if err := s.Flow(ctx, q, sink); err != nil {
				return err
			}
			return sink.Close()
		},
	}
}

// runVerb runs a verb with arguments.
func runVerb(t *testing.T, c *cobra.Command, args ...string) {
	t.Helper()
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	if err := c.ExecuteContext(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// tally is how often instructions were executed, by address.
type tally map[uint64]uint64

// sizes are the lengths of instructions, bytes.
type sizes map[uint64]uint64

// lengthsOf returns the lengths of the instructions that were executed, as the code has them
// at the beginning, or else at the end.
func lengthsOf(t *testing.T, s *decoder.Session, all tally) sizes {
	t.Helper()
	got := sizes{}
	if err := s.Flow(context.Background(), decoder.Query{}, lengthSink(got)); err != nil {
		t.Fatal(err)
	}
	for a := range all {
		if got[a] == 0 {
			t.Fatalf("%x was executed, and is not in the flow", a)
		}
	}
	return got
}

// lengthSink notes the length of each instruction.
type lengthSink sizes

// Flow notes those of b.
func (l lengthSink) Flow(b *decoder.Batch) error {
	for i := range b.Ranges {
		a := b.Ranges[i].Block.Addr
		for _, n := range b.Ranges[i].Block.Lens[:b.Ranges[i].N] {
			l[a] = uint64(n)
			a += uint64(n)
		}
	}
	return nil
}

// compare fails where got is not want.
func compare(t *testing.T, what string, got, want tally) {
	t.Helper()
	wrong := 0
	for a, n := range want {
		if got[a] != n {
			if wrong++; wrong < 4 {
				t.Errorf("%s: %x was executed %d times, it says %d", what, a, n, got[a])
			}
		}
	}
	for a, n := range got {
		if want[a] == 0 {
			if wrong++; wrong < 4 {
				t.Errorf("%s: %x was never executed, it says %d", what, a, n)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d addresses of %d are wrong", what, wrong, len(want))
	}
}

// TestExact would catch an execution that a format loses, counts twice, or puts at another
// address: it compares with the emulator's log. Formats that name files have no place for
// code that the kernel made.
func TestExact(t *testing.T) {
	data := testsize.Recordings(t)
	names := []string{"kprobes", "ftrace", "tracepoints-coarse"}
	for _, name := range names[:testsize.Of(t, 1, len(names))] {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(data, "kernel-pokes-x86", name)
			c := decoder.Config{Recording: filepath.Join(dir, "perf.data")}
			s, err := decoder.Open(c)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			want := tally(testsize.Ran(t, dir))
			lens := lengthsOf(t, s, want)
			out := t.TempDir()
			file := func(name string) string { return filepath.Join(out, name) }
			inFile, bases := tally{}, map[string]uint64{}
			for a, n := range want {
				if o, ok := s.Object(0, a, 0); ok {
					inFile[a] = n
					bases[o.Name] = o.Start
				}
			}
			if len(inFile) == len(want) && name == "kprobes" {
				t.Error("no code of probes was executed: this recording has some")
			}
			args := []string{"--with-ambiguous"}
			for _, f := range []string{"pprof", "drcov", "pcs"} {
				args = append(args, "-o", f+":"+file(f))
			}
			all := tally{}
			for name, base := range bases {
				runVerb(t, New(testHost(c, io.Discard)), append(args, "--object", name, "-o", "autofdo:"+file("autofdo"))...)
				readAutoFDO(t, file("autofdo"), base, lens, all)
				args = args[:1] // the others name no file
			}
			compare(t, "autofdo", all, inFile)
			got, byFunc := readPprof(t, file("pprof"))
			compare(t, "pprof", got, want)
			sameFunctions(t, c, byFunc)
			blocks(t, file("pcs"), want, lens)
			sameBytes(t, file("drcov"), inFile, lens)
		})
	}
}

// readPprof returns the executions of each address, and the instructions of each function.
func readPprof(t *testing.T, file string) (tally, map[string]uint64) {
	t.Helper()
	all, byFunc := tally{}, map[string]uint64{}
	for _, s := range parsed(t, file).Sample {
		all[s.Location[0].Address] += uint64(s.Value[0])
		byFunc[s.Location[0].Line[0].Function.Name] += uint64(s.Value[0])
	}
	return all, byFunc
}

// parsed reads a profile of pprof.
func parsed(t *testing.T, file string) *profile.Profile {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sameFunctions compares the instructions of functions with what hot says.
func sameFunctions(t *testing.T, c decoder.Config, want map[string]uint64) {
	t.Helper()
	var b bytes.Buffer
	runVerb(t, hot.New(testHost(c, &b)), "-o", "jsonl")
	got := map[string]uint64{}
	for line := range strings.Lines(b.String()) {
		var e struct {
			Sym       string `json:"sym"`
			N         uint64 `json:"instructions"`
			Ambiguous uint64 `json:"ambiguous_instructions"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Sym == "" {
			e.Sym = "[unknown]"
		}
		got[e.Sym] += e.N + e.Ambiguous
	}
	if !maps.Equal(got, want) {
		t.Errorf("hot and pprof differ: %d functions and %d", len(got), len(want))
	}
}

// blocks fails where a line of pcs is no address that was executed, or an executed address
// that a branch led to lacks a line.
func blocks(t *testing.T, file string, want tally, lens sizes) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	begins := map[uint64]bool{}
	for in := bufio.NewScanner(f); in.Scan(); {
		var a uint64
		if n, err := fmt.Sscanf(in.Text(), "0x%016x", &a); n != 1 || err != nil || len(in.Text()) != 18 {
			t.Fatalf("pcs: line %q", in.Text())
		}
		if want[a] == 0 {
			t.Errorf("pcs: %x was never executed", a)
		}
		begins[a] = true
	}
	// What was executed and no block begins with lies behind something that was executed.
	behind := map[uint64]bool{}
	for a := range want {
		behind[a+lens[a]] = true
	}
	for a := range want {
		if !begins[a] && !behind[a] {
			t.Errorf("pcs: %x was executed, and no block leads to it", a)
		}
	}
}

// sameBytes fails where the blocks of drcov are not the bytes of the instructions that were
// executed, or where drcov2lcov would refuse the file, or leave a block out.
func sameBytes(t *testing.T, file string, want tally, lens sizes) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := bytes.Cut(b, []byte("BB Table: "))
	if !ok {
		t.Fatal("drcov: no table of blocks")
	}
	var bases, ends []uint64
	for _, line := range strings.Split(string(head), "\n")[4:] {
		var id int
		var base, end uint64
		if n, _ := fmt.Sscanf(line, "%d, 0x%x, 0x%x,", &id, &base, &end); n == 3 {
			bases, ends = append(bases, base), append(ends, end)
			if (end-base)%4096 != 0 {
				t.Errorf("drcov: no whole pages: %s", line)
			}
		}
	}
	if !bytes.Contains(head, []byte("\nDRCOV FLAVOR: drcov-64\n")) {
		t.Error("drcov: drcov2lcov takes no such flavor")
	}
	var n int
	line, table, _ := bytes.Cut(b[len(head):], []byte("\n"))
	if _, err := fmt.Sscanf(string(line), "BB Table: %d bbs", &n); err != nil || len(table) != 8*n {
		t.Fatalf("drcov: %q, and %d bytes", line, len(table))
	}
	got := map[uint64]bool{}
	for ; len(table) > 0; table = table[8:] {
		mod := binary.LittleEndian.Uint16(table[6:])
		from := bases[mod] + uint64(binary.LittleEndian.Uint32(table))
		if from+uint64(binary.LittleEndian.Uint16(table[4:])) >= ends[mod] {
			t.Errorf("drcov: the block at %x ends where its file ends: drcov2lcov leaves it out", from)
		}
		for i := range uint64(binary.LittleEndian.Uint16(table[4:])) {
			got[from+i] = true
		}
	}
	ran := map[uint64]bool{}
	for a := range want {
		for i := range lens[a] {
			ran[a+i] = true
		}
	}
	if !maps.Equal(got, ran) {
		t.Errorf("drcov: %d bytes are covered, %d were executed", len(got), len(ran))
	}
}

// readAutoFDO adds the executions of each address.
func readAutoFDO(t *testing.T, file string, base uint64, lens sizes, all tally) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewReader(f)
	var ranges int
	if _, err := fmt.Fscanf(in, "%d\n", &ranges); err != nil {
		t.Fatal(err)
	}
	for range ranges {
		var from, last, n uint64
		if _, err := fmt.Fscanf(in, "%x-%x:%d\n", &from, &last, &n); err != nil {
			t.Fatal(err)
		}
		for a := base + from; a <= base+last; a += max(lens[a], 1) {
			all[a] += n
		}
	}
}

// TestPhone would catch ranges and branches of a program that differ from simpleperf's, which
// decoded the same recording with OpenCSD. It ends ranges at branches that were not taken too,
// so addresses are compared; and where a branch led that leaves what is traced, it says 0.
func TestPhone(t *testing.T) {
	dir := filepath.Join(testsize.Recordings(t), "real-arm")
	out := filepath.Join(t.TempDir(), "autofdo")
	c := decoder.Config{Recording: filepath.Join(dir, "perf_etm.data"), SymFS: filepath.Join(dir, "sym")}
	runVerb(t, New(testHost(c, io.Discard)), "-o", "autofdo:"+out)
	got, want := tally{}, tally{}
	lens := sizes{}
	for a := uint64(0x1000); a < 0x2000; a += 4 {
		lens[a] = 4
	}
	readAutoFDO(t, out, 0, lens, got)
	readAutoFDO(t, filepath.Join(dir, "golden-counts.txt"), 0, lens, want)
	compare(t, "autofdo", got, want)
	if len(want) == 0 {
		t.Error("simpleperf counted nothing")
	}
	golden := filepath.Join(dir, "golden-counts.txt")
	ours, theirs := linesWith(t, "->", out), linesWith(t, "->", golden)
	for _, line := range theirs {
		if !strings.Contains(line, "->0:") && !slices.Contains(ours, line) {
			t.Errorf("branch %s is missing", line)
		}
	}
	if a, b := linesWith(t, "//", out), linesWith(t, "//", golden); !slices.Equal(a, b) {
		t.Errorf("the file is named %q, want %q", a, b)
	}
}

// linesWith returns the lines of a file that hold a word.
func linesWith(t *testing.T, word, file string) (list []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, word) {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}
