package diff

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/pt"
)

// workload is a simulated CPU that runs a small kernel, and the trace unit that records it.
// What it does is given by the number of rounds; when it does it, and where interrupts
// come, by a seed.
type workload struct {
	base   uint64 // where the kernel lies
	timing uint64 // seed
	rounds int
	on     int // the round before which the tracepoint is switched on; 0: never
	skips  bool

	rand  *rand.Rand
	pt    strings.Builder
	bits  string // branch outcomes that were not sent yet
	now   uint64 // ns
	mtc   uint64 // of now, in periods
	round int
	irqs  int
	pokes []string
}

// kernelCode is the kernel: offset, name, machine code.
var kernelCode = []struct {
	off  uint64
	name string
	code string
}{
	// call work; call maybe; dec %rcx; jne back; ret
	{0x000, "main_loop", "e8fb000000 e876010000 48ffc9 75f1 c3"},
	// the tracepoint's site; test; je over two NOPs; ret. Out of line: call trace_work; jmp back
	{0x100, "work", "0f1f440000 4885c0 7402 9090 c3"},
	{0x120, "", "e8db000000 ebde"},
	// jne over a NOP; ret
	{0x180, "maybe", "7501 90 c3"},
	// nop; call ring_buffer; ret
	{0x200, "trace_work", "90 e8fa000000 c3"},
	{0x300, "ring_buffer", "9090 c3"},
	// call tick; iretq
	{0x400, "asm_sysvec_timer", "e87b000000 48cf"},
	// je over a NOP; ret
	{0x480, "tick", "7401 90 c3"},
	{0x4f0, "_etext", ""},
}

const (
	began  = 5_000_000_000 // ns
	period = 320           // ns from one MTC to the next
)

// site is the tracepoint's, with what lies there while it is off and on.
const (
	site    = 0x100
	siteOff = "0f1f440000"
	siteOn  = "e91b000000"
)

// send sends a packet, behind the outcomes that wait.
func (w *workload) send(format string, args ...any) {
	w.flush()
	fmt.Fprintf(&w.pt, format+"\n", args...)
}

// flush sends the outcomes that wait.
func (w *workload) flush() {
	if w.bits != "" {
		fmt.Fprintf(&w.pt, "tnt %s\n", w.bits)
		w.bits = ""
	}
}

func (w *workload) low(off uint64) uint64 { return (w.base + off) & 0xffffffff }

// pass lets time pass.
func (w *workload) pass(ns uint64) {
	for w.now += ns; w.mtc < (w.now-began)/period; {
		w.mtc++
		w.send("mtc %#x", (began/40/8+w.mtc)&0xff)
	}
}

// branch takes the outcome of a branch.
func (w *workload) branch(taken bool) {
	if w.bits += map[bool]string{true: "t", false: "n"}[taken]; len(w.bits) == 6 {
		w.flush()
	}
}

// at executes the instruction at off: time passes, and now and then an interrupt comes
// before it.
func (w *workload) at(off uint64) {
	w.pass(1 + w.rand.Uint64N(9))
	if w.rand.IntN(12) > 0 {
		return
	}
	w.irqs++
	w.send("fup 2: %#x", w.low(off))
	w.send("tip 2: %#x", w.low(0x400))
	w.pass(50)
	w.branch(w.rand.IntN(2) == 0)
	w.ret(0x405)
	w.send("tip 2: %#x", w.low(off))
}

// ret returns to off, uncompressed.
func (w *workload) ret(off uint64) { w.send("tip 2: %#x", w.low(off)) }

// run runs the rounds.
func (w *workload) run() {
	w.rand = rand.New(rand.NewPCG(w.timing, 1))
	w.now = began
	ctc := uint64(began / 40)
	fmt.Fprintf(&w.pt, "psb\ntsc %#x\ntma %#x 0x0\nmode.exec l\npsbend\n", uint64(began), ctc&0xffff)
	w.pass(2 * period)
	w.send("tip.pge 6: %#x", w.base)
	for w.round = 1; w.round <= w.rounds; w.round++ {
		if w.round == w.on {
			w.switchOn()
		}
		w.at(0)
		w.work()
		w.at(5)
		w.at(0x180)
		jumps := w.round%3 == 0 && !w.skips
		w.branch(jumps)
		if !jumps {
			w.at(0x182)
		}
		w.at(0x183)
		w.ret(0xa)
		w.at(0xa)
		w.at(0xd)
		w.branch(w.round < w.rounds)
	}
	w.at(0xf)
	w.send("tip.pgd")
	w.pass(2 * period)
}

// switchOn switches the tracepoint on, while the CPU is not traced.
func (w *workload) switchOn() {
	w.send("fup 2: %#x", w.low(0)) // an interrupt to what is not traced; it comes back here
	w.send("tip.pgd")
	w.pass(3 * period)
	w.pokes = append(w.pokes, fmt.Sprintf(`{"type":"text_poke","time":%d,"cpu":0,"addr":"%x","old":"%s","new":"%s","scheme":"bp"}`, w.now, w.base+site, siteOff, siteOn))
	w.pass(3 * period)
	w.send("tip.pge 2: %#x", w.low(0))
}

// work executes the function with the tracepoint.
func (w *workload) work() {
	w.at(site)
	if w.on > 0 && w.round >= w.on {
		for _, off := range []uint64{0x120, 0x200, 0x201, 0x300, 0x301, 0x302} {
			w.at(off)
		}
		w.ret(0x206)
		w.at(0x206)
		w.ret(0x125)
		w.at(0x125)
	}
	w.at(0x105)
	w.at(0x108)
	jumps := w.round%5 == 0
	w.branch(jumps)
	if !jumps {
		w.at(0x10a)
		w.at(0x10b)
	}
	w.at(0x10c)
	w.ret(5)
}

// record runs w and counts what is decoded of it.
func (w *workload) record(t *testing.T, o options) *side {
	t.Helper()
	w.run()
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := bytes.Repeat([]byte{0xcc}, 0x500)
	var syms strings.Builder
	for _, c := range kernelCode {
		b, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		copy(text[c.off:], b)
		if c.name != "" {
			fmt.Fprintf(&syms, "%016x T %s\n", w.base+c.off, c.name)
		}
	}
	trace, err := pt.Assemble(nil, w.pt.String())
	if err != nil {
		t.Fatal(err)
	}
	events := append([]string{
		`{"type":"stream","version":1}`,
		`{"type":"attr","name":"intel_pt//k","pmu":8,"config":"c600"}`,
		`{"type":"auxtrace_info","pmu":1,"priv":["8","0","1","0","1","400","800","3","0","1","200","3c000","50","2","2","a","0","0"]}`,
		`{"type":"time_conv","mult":1,"cap_zero":true}`,
		fmt.Sprintf(`{"type":"comm","time":%d,"cpu":0,"pid":7,"tid":7,"comm":"worker"}`, began-2),
		fmt.Sprintf(`{"type":"itrace_start","time":%d,"cpu":0,"pid":7,"tid":7}`, began-1),
	}, w.pokes...)
	s, err := decoder.Open(decoder.Config{
		Raw:      []decoder.RawTrace{{Protocol: decoder.IntelPT, Path: write("pt", trace)}},
		Code:     []decoder.CodeFile{{Path: write("text", text), Addr: w.base}},
		Kallsyms: write("kallsyms", []byte(syms.String())), Events: write("events", []byte(strings.Join(events, "\n")+"\n")),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := gather(t.Context(), s, &o, func(ctx context.Context, s *decoder.Session, q decoder.Query, sink host.Sink) error {
		return s.Flow(ctx, q, sink)
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.gaps > 0 {
		t.Fatalf("%d gaps", c.gaps)
	}
	if w.irqs == 0 || c.left == 0 && !o.interrupts {
		t.Fatal("no interrupt: the test tells nothing of them")
	}
	return c.side()
}
