package flow

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/pt"
)

// story is a Sink that writes a flow: instructions as prints does, gaps by their
// reason, where tracing comes on and goes off, and what events tell.
type story struct{ prints }

func (s *story) Flow(b *Batch) error {
	all, from := *b, 0
	tell := func(to int) {
		all.Ranges, all.Notes = b.Ranges[from:to], nil
		s.prints.Flow(&all)
		from = to
	}
	for i := range b.Notes {
		n := &b.Notes[i]
		tell(n.At)
		switch {
		case n.Kind == NoteGap:
			fmt.Fprintf(&s.prints, "%v ", n.Gap.Reason)
		case n.Kind == NoteTrackOn:
			s.WriteString("on ")
		case n.Kind == NoteTrackOff:
			s.WriteString("off ")
		case n.Kind == NoteEvent && n.Event.Detail != event.DetailNone:
			fmt.Fprintf(&s.prints, "%v ", n.Event.Detail)
		}
	}
	tell(len(b.Ranges))
	return nil
}

// follow decodes a stream of Intel PT, segment by segment, and walks it. The
// stream is in the text form of packets, with semicolons between lines.
func follow(t *testing.T, c pt.Config, traced func(uint32, uint64) bool, text *testText, packets string) string {
	t.Helper()
	buf, err := pt.Assemble(nil, strings.ReplaceAll(packets, ";", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	w := NewWalker(text, NewCache(), Config{ISA: x86.Decoder{}, Mode: isa.Mode64, Rules: c.Rules(), Traced: traced})
	segs, _ := pt.Segments(buf, 0, c)
	var first string
	for i, pass := range append(thrice, "careful") {
		w.careful = i == len(thrice)
		var s story
		for _, seg := range segs {
			if err := w.Run(pt.NewDecoder(c, seg), &s); err != nil {
				t.Fatal(err)
			}
		}
		got := strings.TrimSpace(s.String())
		if i == 0 {
			first = got
		}
		if got != first {
			t.Errorf("the %s walk differs:\n got %s\nfirst %s", pass, got, first)
		}
	}
	return first
}

// within is an address filter; both ends are traced.
func within(lo, hi uint64) func(uint32, uint64) bool {
	return func(_ uint32, ip uint64) bool { return lo <= ip && ip <= hi }
}

// on returns a trace unit of a processor of family 6.
func on(model uint16) pt.Config { return pt.Config{Model: pt.Model{Family: 6, Model: model}} }

// TestErrataStreams holds each erratum that libipt works around against what its
// header and tests say of it (libipt at 8978561f, libipt/include/intel-pt.h.in,
// test/src), from packets to instructions. It would catch instructions claimed that
// never ran, and gaps where the erratum is known.
func TestErrataStreams(t *testing.T) {
	const (
		broadwell, skylake, server, goldmont, denverton, alderlake = 0x3d, 0x5e, 0x55, 0x5c, 0x5f, 0x97
	)
	text := code(map[int]string{
		0x00: "\x90\x74\x1d\x90\xff\xe0",         // nop; je 20; nop; jmp *rax
		0x06: "\x90\x74\x17\x90\xff\xd0",         // nop; je 20; nop; call *rax
		0x10: "\x90\x90\xf4",                     // nop; nop; hlt
		0x20: "\xf4\x90\x90\xf4",                 // hlt; nop; nop; hlt
		0x30: "\xff\xe0",                         // jmp *rax
		0x40: "\x0f\x01\xc2\xf4",                 // vmlaunch; hlt
		0x50: "\x90\x0f\x01\xc3\xf4",             // nop; vmresume; hlt
		0x60: "\xe8\x9b\x00\x00\x00\xf4",         // call 100
		0x70: "\xeb\x01\xf4\xe9\x88\x00\x00\x00", // jmp 73; hlt; jmp 100
		0x80: "\xeb\x01\xf4\xff\x28\xf4",         // jmp 83; hlt; jmp far *(rax)
		0x90: "\x7e\x0e\x90\x90",                 // jle a0; nop; nop
	})
	filter := within(0x1000, 0x10ff)
	const (
		at10 = "psb; mode.exec l; fup 6: 0x1010; psbend; "
		end  = "; fup 6: 0x1011; tip.pgd" // behind the instruction at 10
		off  = "psb; mode.exec l; psbend; "
	)
	var rows []string
	for _, c := range []struct {
		name    string
		model   uint16
		traced  func(uint32, uint64) bool
		packets string
		want    string
	}{
		{"BDM70, a FUP before TIP.PGE", skylake, nil,
			"psb; mode.exec l; fup 6: 0x1010; mode.tsx intx; psbend; tip.pge 6: 0x1010" + end, "tx-state on 10 off"},
		{"BDM70, behind TIP.PGD", skylake, nil,
			"psb; mode.exec l; mode.tsx intx; fup 6: 0x1090; psbend; tip.pgd 6: 0x1092;" +
				"psb; mode.exec l; fup 6: 0x1010; mode.tsx intx; psbend; tip.pge 6: 0x1010" + end, "tx-state 90 off tx-state on 10 off"},

		{"BDM64, a wrong target", broadwell, nil,
			"psb; mode.exec l; mode.tsx intx; fup 6: 0x1030; psbend; tip 6: 0x1020; mode.tsx abort; fup 6: 0x1020; tip 6: 0x1010" + end,
			"tx-state 30 tx-abort 10 off"},
		{"BDM64, a wrong outcome before a jump", broadwell, nil,
			"psb; mode.exec l; mode.tsx intx; fup 6: 0x1000; psbend; tnt n; mode.tsx abort; fup 6: 0x1020; tip 6: 0x1010" + end,
			"tx-state 0 1 tx-abort 10 off"},
		{"BDM64, a wrong outcome before a call", broadwell, nil,
			"psb; mode.exec l; mode.tsx intx; fup 6: 0x1006; psbend; tnt n; mode.tsx abort; fup 6: 0x1020; tip 6: 0x1010" + end,
			"tx-state 6 7 tx-abort 10 off"},
		{"BDM64, on another processor", skylake, nil,
			"psb; mode.exec l; mode.tsx intx; fup 6: 0x1000; psbend; tnt n; mode.tsx abort; fup 6: 0x1020; tip 6: 0x1010" + end,
			"tx-state 0? 1? mismatch 10 off"},

		{"SKD007", skylake, nil, "psb; mode.exec l; fup 6: 0x1000; cyc 37; cyc 30; pad; fup 6: 0x1010" + end, "overflow 10 off"},

		{"SKD022", skylake, nil, "psb; mode.exec l; fup 6: 0x1040; psbend; fup 6: 0x1040; tip.pgd; tip.pge 6: 0x1050; fup 6: 0x1051; tip.pgd",
			"40 off on 50 51 off"},

		{"SKD010, a transaction begins", skylake, nil, off + "ovf; mode.tsx intx; fup 6: 0x1010" + end, "overflow tx-begin 10 off"},
		{"SKD010, a PSB+", skylake, nil, off + "ovf; " + at10 + end[2:], "overflow 10 off"},
		{"SKD010, a PSB+ and an interrupt", skylake, nil, off + "ovf; " + at10 + "fup 6: 0x1011; tip 6: 0x1030; tip 6: 0x1010" + end, "overflow 10 30 10 off"},
		{"SKD010, what may be an interrupt", skylake, nil, off + "ovf; fup 6: 0x1000; tip 6: 0x1010" + end, "overflow 10 off"},
		{"SKD010, what is none on another processor", server, nil, off + "ovf; fup 6: 0x1030; tip 6: 0x1010" + end, "overflow 30 10 off"},
		{"SKD010, a target", skylake, nil, off + "ovf; tip 6: 0x1010" + end, "overflow 10 off"},
		{"SKD010, the end of tracing", skylake, nil, at10 + "ovf; tip.pgd; tip.pge 6: 0x1010" + end, "overflow on 10 off"},

		{"SKL014, a call", skylake, filter, "psb; mode.exec l; fup 6: 0x1060; psbend; tip.pgd", "60 off"},
		{"SKL014, a jump", skylake, filter, "psb; mode.exec l; fup 6: 0x1073; psbend; tip.pgd", "73 off"},
		{"SKL014, the second of two jumps", skylake, filter, "psb; mode.exec l; fup 6: 0x1070; psbend; tip.pgd", "70 73 off"},
		{"SKL014, without a filter", skylake, nil, "psb; fup 6: 0x1080; mode.exec l; psbend; tip.pgd", "80 83 off"},

		{"APL12, up to TIP.PGE", goldmont, nil, at10 + "ovf; fup 6: 0x1020; vmcs 0xa000; pip 0xa000; mode.exec l; tip.pge 6: 0x1010" + end,
			"overflow vmcs cr3 on 10 off"},
		{"APL12, up to a PSB+", denverton, nil, at10 + "ovf; fup 6: 0x1020; psb; mode.exec l; psbend; tip.pge 6: 0x1010" + end,
			"overflow on 10 off"},
		{"APL12, up to a TraceStop", denverton, nil, at10 + "ovf; fup 6: 0x1020; tracestop", "overflow tracestop"},
		{"APL12, but the PSB+ says that tracing is on", denverton, nil, at10 + "ovf; fup 6: 0x1010; psb; mode.exec l; fup 6: 0x1011; psbend; fup 6: 0x1012; tip.pgd",
			"overflow 10 11 off"},

		{"APL11", alderlake, nil, at10 + "ovf; tip.pgd 6: 0x1020; mode.exec l; tip.pge 6: 0x1010" + end, "overflow on 10 off"},

		{"SKZ84", server, nil, at10 + "tma 1 0 reserved 0x100; pad; fup 6: 0x1011; tip.pgd", "10 off"},

		{"SKL168, no CYC and no MTC before a PSB", skylake, nil, "psb; tsc 0x100; tma 0 0; mtc 0x10; mode.exec l; fup 6: 0x1010; psbend; cyc 5; mtc 0x11;" +
			"psb; tsc 0x300; tma 0 0; mtc 0x30; mode.exec l; fup 6: 0x1011; psbend; fup 6: 0x1012; tip.pgd", "10 11 off"},

		{"NextIP, an interrupt before a jump", goldmont, nil, "psb; mode.exec l; fup 6: 0x1030; psbend; fup 6: 0x1032; tip 6: 0x1010" + end, "10 off"},
		{"NextIP, on another processor", denverton, nil, "psb; mode.exec l; fup 6: 0x1030; psbend; fup 6: 0x1032; tip 6: 0x1010" + end, "mismatch 10 off"},
	} {
		rows = append(rows, c.name)
		t.Run(c.name, func(t *testing.T) {
			if got := follow(t, on(c.model), c.traced, text, c.packets); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.packets, got, c.want)
			}
		})
	}
	for _, name := range documentedErrata(t) {
		if !slices.ContainsFunc(rows, func(row string) bool { return row == name || strings.HasPrefix(row, name+",") }) {
			t.Errorf("%s: no row has it", name)
		}
	}
}

// documentedErrata returns the names of the errata that the document on decoding lists.
// A test of package pt holds its list against the decoder's.
func documentedErrata(t *testing.T) (names []string) {
	b, err := os.ReadFile("../../../docs/formats/intel-pt-decoding.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(b), "\n## Errata\n")
	list, _, _ = strings.Cut(list, "\n## ")
	for line := range strings.Lines(list) {
		if cells := strings.Split(line, " | "); len(cells) == 3 && cells[1] != "models (family 6 unless said)" {
			names = append(names, strings.TrimPrefix(cells[0], "| "))
		}
	}
	if len(names) < 10 {
		t.Fatalf("%d errata found in the document, need 10 at least", len(names))
	}
	return names
}

// TestTraceEnds would catch code claimed behind the place where tracing ended,
// instructions lost before it, and a gap where the trace is right. The rows
// without a filter are of libipt's tests (at 8978561f, test/src).
func TestTraceEnds(t *testing.T) {
	text := code(map[int]string{
		0x00: "\x7e\x01\xf4\x7e\x02\x90\xf4\x90",         // jle 3; hlt; jle 7; nop; hlt; nop
		0x10: "\xff\xd3\x74\x02\xf4\xc3\x90\xf4",         // call *rbx; jz 16; hlt; ret; nop
		0x20: "\x90\x48\x89\xc3\x90\xff\xe0",             // nop; mov rbx, rax; nop; jmp *rax
		0x30: "\x90\x48\x89\xc3\x90\x74\xc9",             // nop; mov rbx, rax; nop; je 0
		0x40: "\x90\x74\x3d\x90\x74\x3a\xff\xe0",         // nop; je 80; nop; je 80; jmp *rax
		0x50: "\x90\x0f\x22\xd8\x90\x0f\x07",             // nop; mov cr3, rax; nop; sysret
		0x60: "\x0f\x22\xd8\x90\x0f\x22\xd8\x90\x0f\x07", // mov cr3, rax; nop; mov cr3, rax; nop; sysret
		0x70: "\x0f\x22\xd8\x7e\x01\x90\x0f\x07",         // mov cr3, rax; jle 76; nop; sysret
		0x80: "\x90\xeb\x02\x90\x90\xeb\x09",             // nop; jmp 85; nop; nop; jmp 90
		0x90: "\x90\xff\xe0",                             // nop; jmp *rax

		0xa0: strings.Repeat("\xeb\x00", 20) + "\x0f\x22\xd8\xeb\xfb", // jmp a2; ... jmp c8; mov cr3, rax; jmp c8
	})
	const b = "psb; mode.exec l; fup 6: 0x10"
	for _, c := range []struct {
		name    string
		traced  func(uint32, uint64) bool
		packets string
		want    string
	}{
		{"at a conditional branch not taken, at the address behind it", nil, b + "00; psbend; tnt t; tip.pgd 6: 0x1005", "0 3 off"},
		{"at a conditional branch taken", nil, b + "00; psbend; tnt t; tip.pgd 6: 0x1007", "0 3 off"},
		{"at a conditional branch that leads elsewhere", nil, b + "00; psbend; tnt t; tip.pgd 6: 0x1006", "0? mismatch off"},
		{"behind the outcome of a branch not taken", nil, b + "00; psbend; tnt tn; tip.pgd 6: 0x1005", "0 3 off"},
		{"behind a jump, at the next one", nil, b + "80; psbend; tip.pgd 6: 0x1090", "80 81 85 off"},

		// The address filter ends inside the instruction at 21, 31, 41.
		{"filter: behind the last instruction, no branch", within(0x1020, 0x1022), b + "20; psbend; tip.pgd 6: 0x1024", "20 21 off"},
		{"filter: behind the last instruction, a branch further on", within(0x1030, 0x1032), b + "30; psbend; tip.pgd 6: 0x1034", "30 31 off"},
		{"filter: a branch to the address stated", within(0x1030, 0x1032), b + "30; psbend; tip.pgd 6: 0x1000", "30 31 34 35 off"},
		{"filter: the flow runs on to the next branch taken", within(0x1020, 0x1022), b + "20; psbend; tip.pgd 6: 0x1060", "20 21 24 25 off"},
		{"filter: past a branch not taken to one that is", within(0x1040, 0x1042), b + "40; psbend; tnt n; tip.pgd", "40 41 43 44 off"},
		{"filter: the same, with packets between", within(0x1040, 0x1042), b + "40; psbend; tnt n; cbr 8; vmcs 0xa000; tip.pgd", "40 41 cbr vmcs 43 44 off"},
		{"filter: the same, with a place stated between", within(0x1040, 0x1042), b + "40; psbend; tnt n; ptw 4 7 ip; fup 6: 0x1043; tip.pgd", "40 41 ptwrite 43 44 off"},
		{"filter: a branch taken, behind another outcome", within(0x1040, 0x1044), b + "40; psbend; tnt nt; tip.pgd", "40 41 43 44 off"},
		{"filter: unknown, the address stated is not traced", nil, b + "20; psbend; tip.pgd 6: 0x1024; tip.pge 6: 0x1090; tip.pgd 6: 0x1091", "20 21 off on 90 off"},

		{"CR3: MOV CR3 leaves the traced context", nil, b + "50; psbend; tip.pgd", "50 51 off"},
		{"CR3: far on, in a loop", nil, b + "a0; psbend; tip.pgd", "a0 a2 a4 a6 a8 aa ac ae b0 b2 b4 b6 b8 ba bc be c0 c2 c4 c6 c8 off"},
		{"CR3: a PIP says that it stays", nil, b + "50; psbend; pip 0xa000; tip.pgd", "cr3 50 51 54 55 off"},
		{"CR3: behind where tracing came on", nil, b + "00; psbend; tnt tt; tip.pge 6: 0x1050; tip.pgd", "0? 3? bad-packet on 50 51 off"},
		{"CR3: the outcome behind it says that it stays", nil, b + "70; psbend; pip 0xa000; tnt n; tip.pgd", "cr3 70 73 75 76 off"},

		{"a target behind the outcomes of what comes after", nil, b + "10; psbend; tnt tt; tip 6: 0x1015; fup 6: 0x1016; tip.pgd", "10? 15? 12? off"},
		{"outcomes, but no target", nil, b + "10; psbend; tnt tt; fup 6: 0x1016; tip.pgd", "mismatch off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := follow(t, pt.Config{}, c.traced, text, c.packets); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.packets, got, c.want)
			}
		})
	}
}

// TestEndsInFullBlock would catch a walk that passes the end of tracing in a block
// that ends as it is full and not at a branch.
func TestEndsInFullBlock(t *testing.T) {
	nops := bytes.Repeat([]byte{0x90}, 2*maxInsns)
	text := &testText{addr: 0x1000, bytes: nops}
	var want strings.Builder
	for i := range maxInsns / 2 {
		fmt.Fprintf(&want, "%x ", i)
	}
	const begin = "psb; mode.exec l; fup 6: 0x1000; psbend; "
	if got := follow(t, pt.Config{}, nil, text, begin+"tip.pgd 6: 0x1200"); got != want.String()+"off" {
		t.Errorf("before the address stated: got %s", got)
	}
	copy(nops[maxInsns/2:], "\x0f\x22\xd8") // mov cr3, rax
	if got := follow(t, pt.Config{}, nil, text, begin+"tip.pgd"); got != want.String()+"200 off" {
		t.Errorf("at MOV CR3: got %s", got)
	}
}
