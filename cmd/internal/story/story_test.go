package story

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/recorded"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// TestPaths would catch a frame of a path that was no call. The code at each frame must
// be a call, and a direct one must go to the function that the frame inside of it is in.
// It would also catch a path that ends at the wrong place: the outermost function is the
// kernel's entry of system calls. So would it catch a CPU of which a poke tells nothing. The
// recording is of a real kernel.
func TestPaths(t *testing.T) {
	s, _ := recorded.Pokes(t, "tracepoints-coarse")
	var streams []rows.Stream
	for _, st := range s.Streams() {
		streams = append(streams, rows.Stream{Index: st.Index, CPU: st.CPU, TID: st.TID, Name: st.Name})
	}
	var numbers []int
	for i := 60; i < 110; i++ {
		numbers = append(numbers, i)
	}
	x := Source{Session: s, Streams: streams}
	list, _, err := x.Whole(t.Context(), numbers...)
	if err != nil {
		t.Fatal(err)
	}
	paths, direct := 0, 0
	for _, p := range list {
		if told := len(p.CPUs) + len(p.Unseen); told != 2 {
			t.Errorf("poke %d: it tells of %d CPUs, 2 were traced: %+v", p.Index, told, p.Unseen)
		}
		if p.Path == nil || p.Path.End != endUser {
			continue
		}
		paths++
		f := p.Path.Frames
		if out := f[len(f)-1].Sym; p.Path.At != "record" || !strings.HasPrefix(out, "entry_SYSCALL_64_after_hwframe+") {
			t.Errorf("poke %d: at %s, outermost %s", p.Index, p.Path.At, out)
		}
		for i := 1; i < len(f); i++ {
			direct += checkCall(t, s, p, f[i], f[i-1])
		}
	}
	if paths < 40 || direct < 300 {
		t.Errorf("%d paths, %d direct calls: too few to tell", paths, direct)
	}
}

// TestSnapshotPaths would catch a change of a snapshot that is not brought together with the trace
// of the CPU that made it. It would also catch a path that begins in code of another time.
func TestSnapshotPaths(t *testing.T) {
	s := recorded.Arm(t, "a57-kprobe")
	var streams []rows.Stream
	for _, st := range s.Streams() {
		streams = append(streams, rows.Stream{Index: st.Index, CPU: st.CPU, TID: st.TID, Name: st.Name})
	}
	var numbers []int
	for k := range s.Pokes() {
		numbers = append(numbers, k.Index)
	}
	x := Source{Session: s, Streams: streams}
	list, _, err := x.Whole(t.Context(), numbers...)
	if err != nil || len(list) != 20 {
		t.Fatalf("%d changes, %v", len(list), err)
	}
	for _, p := range list {
		patches := func(f Frame) bool {
			name, _, _ := strings.Cut(f.Sym, "+")
			return name == "multi_cpu_stop" || name == "__jump_label_update"
		}
		if p.Path == nil || !slices.ContainsFunc(p.Path.Frames, patches) {
			t.Errorf("poke %d: %s: path %+v", p.Index, p.pathless, p.Path)
			continue
		}
		if f := p.Path.Frames[0]; f.Time > p.Time || f.Time+1000 < p.Time {
			t.Errorf("poke %d at %d: its path begins at %d", p.Index, p.Time, f.Time)
		}
	}
}

// checkCall checks that f calls the function of inner. It returns 1 if the code says so.
func checkCall(t *testing.T, s *decoder.Session, p *Poke, f, inner Frame) int {
	addr, err := strconv.ParseUint(f.Addr, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	var text [15]byte
	var in isa.Insn
	n := s.Code(text[:], 0, addr, s.EpochAt(f.Time))
	set, mode := s.ISA()
	set.Decode(&in, text[:n], addr, mode)
	switch in.Class {
	case isa.CallInd:
		return 0
	case isa.Call:
	default:
		t.Errorf("poke %d: %s is no call", p.Index, f.Sym)
		return 0
	}
	to := name(s.KernelSymbol(in.Target, f.Time))
	if strings.HasPrefix(to, "__x86_indirect_thunk") || strings.HasPrefix(to, "__SCT__") {
		return 0
	}
	// These end in jumps to other functions, so they have no frames.
	tails := []string{"x64_sys_call", "jump_label_update", "tracing_start_cmdline_record"}
	if to != name(inner.Sym) && !slices.Contains(tails, to) {
		t.Errorf("poke %d: %s calls %s, but the frame inside of it is %s", p.Index, f.Sym, to, inner.Sym)
	}
	return 1
}

func name(sym string) string {
	sym, _, _ = strings.Cut(sym, "+")
	return sym
}

// TestCodeLine would catch a line that says that no symbol begins, and a symbol that is told of twice.
func TestCodeLine(t *testing.T) {
	symbol, got := "", ""
	for _, sym := range []string{"f", "f+0x1", "", "", "g", "f+0x2"} {
		got += CodeLine(&report.Line{Bytes: []byte{0x90}, Insn: "nop", Symbol: sym}, 80, &symbol)
	}
	const nop = "  0000000000000000  90                    nop\n"
	if want := "<f>:\n" + nop + nop + nop + nop + "<g>:\n" + nop + "<f+0x2>:\n" + nop; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
