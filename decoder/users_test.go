package decoder

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/pt"
)

// TestProcesses would catch user code taken from the wrong process. Two
// programs run different code at one address on one CPU, one after the other.
// The second came from the first by fork and exec.
func TestProcesses(t *testing.T) {
	dir, events, write := twoPrograms(t)
	var b []byte
	run := func(ticks uint64, bit string) {
		b = must(t, b, fmt.Sprintf("psb\ntsc 0x%x\nmode.exec l\npsbend\ntip.pge 6: 0x401000\ntnt %s\ntip.pgd\n", ticks, bit))
	}
	run(200, "n") // process 10
	run(500, "t") // process 11, before its exec: its parent's text
	run(700, "n") // process 11, after it
	b = must(t, b, "psb\ntsc 0x384\npsbend\n")
	s := opened(t, Config{Raw: []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: write("cpu0.pt", string(b))}}, Events: events, SymFS: filepath.Join(dir, "root")})
	got := flowed(t, s, steps{})
	var out []string
	for _, x := range got[0] {
		if x.gap != nil {
			t.Error(x.gap)
			continue
		}
		out = append(out, fmt.Sprintf("%x", x.ip-0x401000))
	}
	want := "0 1 3 4 0 1 4 0 2 4 6"
	if g := strings.Join(out, " "); g != want {
		t.Errorf("got %s, want %s", g, want)
	}
	if k, _, _ := s.rec.Processes.Tasks.On(0, 700); k.Comm != "two" || k.PID != 11 {
		t.Errorf("CPU 0 at 700 ns: %+v, want two/11", k)
	}
}

// must assembles packets behind b.
func must(t *testing.T, b []byte, text string) []byte {
	t.Helper()
	b, err := pt.Assemble(b, text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// twoPrograms makes the files of two programs, one and two, which differ at
// 0x401000, and the events of CPU 0. Process 10 runs one. From 400 ns on its
// child 11 does, and at 600 ns the child becomes two. write makes a file.
func twoPrograms(t *testing.T) (dir, events string, write func(name, data string) string) {
	t.Helper()
	write = folder(t)
	// At 0x401000, 0x1000 into the files: nop; je +1; nop; syscall. And the same with two-byte nops.
	pad := strings.Repeat("\x00", 0x1000)
	write("root/bin/one", pad+"\x90\x74\x01\x90\x0f\x05")
	write("root/bin/two", pad+"\x66\x90\x74\x02\x66\x90\x0f\x05")
	events = write("e.jsonl", strings.Join([]string{
		`{"type":"stream","version":1}`,
		`{"type":"comm","time":1,"pid":10,"tid":10,"comm":"one","exec":true}`,
		`{"type":"mmap","time":2,"pid":10,"tid":10,"addr":"401000","len":4096,"pgoff":"1000","prot":5,"file":"/bin/one"}`,
		`{"type":"itrace_start","time":100,"cpu":0,"pid":10,"tid":10}`,
		`{"type":"fork","time":300,"cpu":0,"pid":11,"tid":11,"ppid":10,"ptid":10}`,
		`{"type":"switch","time":400,"cpu":0,"pid":11,"tid":11,"other_pid":10,"other_tid":10}`,
		`{"type":"comm","time":600,"pid":11,"tid":11,"comm":"two","exec":true}`,
		`{"type":"mmap","time":610,"pid":11,"tid":11,"addr":"401000","len":4096,"pgoff":"1000","prot":5,"file":"/bin/two"}`,
	}, "\n")+"\n")
	return filepath.Dir(events), events, write
}

// TestShared would catch a moment known only up to the next sync point where
// the timing packets between would tell which program it was. Both programs run
// between two sync points, each a while before or after the switch. With Bounds
// every range has the nearest bound.
func TestShared(t *testing.T) {
	dir, events, write := twoPrograms(t)
	run := "tip.pge 6: 0x401000\ntnt n\ntip.pgd\n"
	trace := must(t, nil, "psb\ntsc 0xc8\nmode.exec l\npsbend\n"+run+"tsc 0x12c\ntsc 0x1f4\n"+run+"tsc 0x244\npsb\ntsc 0x384\npsbend\n")
	s := opened(t, Config{Raw: []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: write("cpu0.pt", string(trace))}}, Events: events, SymFS: filepath.Join(dir, "root")})
	got := flowed(t, s, steps{})
	if n := len(got[0]); n != 8 {
		t.Fatalf("%d instructions, want 8", n)
	}
	for i, x := range got[0] {
		if x.gap != nil || x.v != flow.Certain {
			t.Errorf("step %d: %x %v %v, want it certain", i, x.ip, x.v, x.gap)
		}
	}
	s.rec.Processes = process.New("", nil) // nothing asks for moments now
	for _, c := range []struct {
		bounds bool
		most   uint64
	}{{false, 900}, {true, 580}} {
		m := latest(0)
		if err := s.Flow(t.Context(), Query{Bounds: c.bounds}, &m); err != nil {
			t.Fatal(err)
		}
		if uint64(m) != c.most {
			t.Errorf("bounds %v: the latest moment is bounded by %d ns, want %d", c.bounds, m, c.most)
		}
	}
}

// latest is a Sink that keeps the latest upper bound, ns.
type latest uint64

func (l *latest) Flow(b *flow.Batch) error {
	for i := range b.Notes {
		if n := &b.Notes[i]; n.Kind == flow.NoteTrackOff {
			*l = max(*l, latest(n.Event.Time.Hi))
		}
	}
	return nil
}

// elfWith makes an ELF file with a build ID (none if empty) and code at 0x1000.
func elfWith(id, code string) string {
	b := make([]byte, 0x1000, 0x1000+len(code))
	copy(b, "\x7fELF\x02\x01\x01")
	le := binary.LittleEndian
	le.PutUint16(b[16:], 3)  // ET_DYN
	le.PutUint16(b[18:], 62) // EM_X86_64
	le.PutUint32(b[20:], 1)
	le.PutUint64(b[32:], 64)
	le.PutUint16(b[52:], 64)
	le.PutUint16(b[54:], 56)
	le.PutUint16(b[56:], 1)
	note := []byte("\x04\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00GNU\x00ABCD") // another note
	if id != "" {
		note = le.AppendUint32(append(note, 4, 0, 0, 0), uint32(len(id)))
		note = append(append(note, 3, 0, 0, 0, 'G', 'N', 'U', 0), id...)
	}
	le.PutUint32(b[64:], 4) // PT_NOTE
	le.PutUint64(b[72:], 200)
	le.PutUint64(b[96:], uint64(len(note)))
	copy(b[200:], note)
	return string(b) + code
}

// TestOtherFile would catch text read from a file that is not the one that ran,
// a right one refused, and a gap that does not say which is which.
func TestOtherFile(t *testing.T) {
	for _, tt := range []struct {
		what, file, mapped, listed, hint string
	}{
		{"no build ID known", elfWith("", "\x90\xc3"), "", "", ""},
		{"the mapping's", elfWith("\xaa\xbb", "\x90\xc3"), "aabb", "", ""},
		{"the recording's", elfWith("\xaa\xbb", "\x90\xc3"), "", "aabb", ""},
		{"the mapping's, another", elfWith("\xaa\xbc", "\x90\xc3"), "aabb", "aabc", "x+0x0: build ID: aabc, need aabb"},
		{"the recording's, another", elfWith("\xaa\xbc", "\x90\xc3"), "", "aabb", "x+0x0: build ID: aabc, need aabb"},
		{"none in the file", elfWith("", "\x90\xc3"), "aabb", "", "x+0x0: build ID: none, need aabb"},
		{"no ELF file", strings.Repeat("\x90", 0x1002), "aabb", "", "x+0x0: build ID: none, need aabb"},
	} {
		_, _, write := twoPrograms(t)
		file := write("root/x", tt.file)
		lines := `{"type":"stream","version":1}` + "\n"
		if tt.listed != "" {
			lines += fmt.Sprintf(`{"type":"build_id","pid":-1,"file":"/x","build_id":%q}`+"\n", tt.listed)
		}
		lines += fmt.Sprintf(`{"type":"mmap","time":1,"pid":10,"tid":10,"addr":"401000","len":4096,"pgoff":"1000","prot":5,"file":"/x","build_id":%q}`+"\n", tt.mapped)
		lines += `{"type":"itrace_start","time":2,"cpu":0,"pid":10,"tid":10}` + "\n"
		trace := must(t, nil, "psb\ntsc 0x64\nmode.exec l\npsbend\ntip.pge 6: 0x401000\ntip.pgd 6: 0x401800\n")
		s, err := Open(Config{Raw: []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: write("cpu0.pt", string(trace))}}, Events: write("e2.jsonl", lines), SymFS: filepath.Dir(file)})
		if err != nil {
			t.Fatal(err)
		}
		got := flowed(t, s, steps{})
		hint, n := "", 0
		for _, x := range got[0] {
			if n++; x.gap != nil {
				n--
				if err := s.Unreadable(x.gap.IP); err != nil {
					hint = err.Error()
				}
			}
		}
		s.Close()
		if bad := tt.hint != ""; bad != (n == 0) || bad && !strings.Contains(hint, tt.hint) {
			t.Errorf("%s: %d instructions, hint %q; want hint %q", tt.what, n, hint, tt.hint)
		}
	}
}

// TestGivenUserText would catch code that the call gives for a program's address and
// that is not used where the program's file is missing. It would also catch such code
// that is used in the place of a file that is there.
func TestGivenUserText(t *testing.T) {
	dir, events, write := twoPrograms(t)
	if err := os.Remove(filepath.Join(dir, "root/bin/two")); err != nil {
		t.Fatal(err)
	}
	trace := must(t, nil, "psb\ntsc 0xc8\nmode.exec l\npsbend\ntip.pge 6: 0x401000\ntnt n\ntip.pgd\n"+
		"psb\ntsc 0x2bc\nmode.exec l\npsbend\ntip.pge 6: 0x401000\ntnt n\ntip.pgd\npsb\ntsc 0x384\npsbend\n")
	s := opened(t, Config{
		Raw:    []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: write("cpu0.pt", string(trace))}},
		Code:   []CodeFile{{Path: write("text.bin", "\x66\x90\x74\x02\x66\x90\x0f\x05"), Addr: 0x401000}}, // two's
		Events: events, SymFS: filepath.Join(dir, "root"),
	})
	var out []string
	for _, x := range flowed(t, s, steps{})[0] {
		if x.gap != nil {
			t.Error(x.gap)
			continue
		}
		out = append(out, fmt.Sprintf("%x", x.ip-0x401000))
	}
	if g, want := strings.Join(out, " "), "0 1 3 4 0 2 4 6"; g != want {
		t.Errorf("got %s, want %s", g, want)
	}
}
