package kcore

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// TestKinds would catch a kind told from bytes or symbols that another has too.
func TestKinds(t *testing.T) {
	const tramp, fn = uint64(0xffffffffc0100000), uint64(0xffffffff81000100)
	k, err := symbols.ParseKallsyms("ffffffff81000000 T _stext\nffffffff81000100 T fn\nffffffff81000200 T ftrace_caller\n"+
		"ffffffff81000300 t __SCT__tp\nffffffff81000400 T handler\nffffffff81001000 T _etext\n", "k")
	if err != nil {
		t.Fatal(err)
	}
	syms := symbols.New(k, nil, []symbols.Ksymbol{{Name: "bpf_prog_6deef7357e7b4530", Addr: 0xffffffffc0200000, Len: 64, Until: ^uint64(0)}})
	call := func(from, to uint64) []byte {
		d := uint32(to - from - 5)
		return []byte{x86Call, byte(d), byte(d >> 8), byte(d >> 16), byte(d >> 24)}
	}
	jump := func(from, to uint64) []byte { b := call(from, to); b[0] = x86Jump; return b }
	big := make([]byte, 200)
	armed := append([]byte{0xcc}, nop5[1:]...)
	for _, tt := range []struct {
		what     string
		addr     uint64
		old, new []byte
		want     Kind
		bare     Kind // without symbols
	}{
		{"static branch, short", fn + 20, []byte{0x66, 0x90}, []byte{0xeb, 0x10}, KindJumpLabel, KindJumpLabel},
		{"static branch, long, off", fn + 30, jump(fn+30, fn), nop5, KindJumpLabel, KindJumpLabel},
		{"function entry", fn, nop5, call(fn, 0xffffffff81000200), KindFtrace, KindUnknown},
		{"function entry to its own trampoline", fn, nop5, call(fn, tramp), KindFtrace, KindFtrace},
		{"inside that trampoline", tramp + 100, call(tramp+100, fn), call(tramp+100, 0xffffffff81000400), KindFtrace, KindFtrace},
		{"static call", fn + 40, call(fn+40, fn), call(fn+40, 0xffffffff81000400), KindStaticCall, KindUnknown},
		{"static call off", fn + 40, call(fn+40, fn), nop5, KindStaticCall, KindUnknown},
		{"static call returns 0", fn + 40, call(fn+40, fn), []byte{0x66, 0x66, 0x48, 0x31, 0xc0}, KindStaticCall, KindStaticCall},
		{"static call's trampoline", 0xffffffff81000300, jump(0xffffffff81000300, fn), []byte{0xc3, 0xcc, 0xcc, 0xcc, 0xcc}, KindStaticCall, KindStaticCall},
		{"kprobe", fn + 50, []byte{0x55}, []byte{0xcc}, KindKprobe, KindKprobe},
		{"optprobe", fn + 60, armed, jump(fn+60, tramp+0x1000), KindOptprobe, KindOptprobe},
		{"optprobe back", fn + 60, jump(fn+60, tramp+0x1000), armed, KindOptprobe, KindOptprobe},
		{"slot", tramp + 0x2000, nil, []byte{0x55, 0xcc}, KindSlot, KindSlot},
		{"optprobe's detour", tramp + 0x1000, nil, big, KindSlot, KindSlot},
		{"trampoline", tramp, nil, big, KindTrampoline, KindTrampoline},
		{"BPF program", 0xffffffffc0200008, nop5, jump(0xffffffffc0200008, fn), KindBPF, KindJumpLabel},
	} {
		pokes := []Poke{
			RecordedPoke(10, 0, tramp, nil, big), RecordedPoke(11, 0, fn+90, nop5, call(fn+90, tramp)),
			RecordedPoke(12, 0, tramp+0x1000, nil, big), RecordedPoke(13, 0, fn+96, armed, jump(fn+96, tramp+0x1000)),
			RecordedPoke(100_000, 0, tt.addr, tt.old, tt.new),
		}
		j, err := NewJournal(pokes)
		if err != nil {
			t.Fatal(err)
		}
		if got := Kinds(j, syms)[4]; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
		if got := Kinds(j, nil)[4]; got != tt.bare {
			t.Errorf("%s, no symbols: %s, want %s", tt.what, got, tt.bare)
		}
	}
}

// TestKindsA64 would catch the same for A64.
func TestKindsA64(t *testing.T) {
	word := func(v uint32) []byte { return []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)} }
	const nop, b, bl, brk, add = 0xd503201f, 0x14000004, 0x94000100, 0xd4200080, 0x8b010000
	for _, tt := range []struct {
		old, new uint32
		want     Kind
	}{{nop, b, KindJumpLabel}, {b, nop, KindJumpLabel}, {nop, bl, KindFtrace}, {bl, bl + 1, KindFtrace}, {bl, nop, KindFtrace},
		{add, brk, KindKprobe}, {bl, brk, KindKprobe}, {add, nop, KindUnknown}, {b, bl, KindUnknown}} {
		j, err := NewJournal([]Poke{{Addr: 0xffff800008000040, Old: word(tt.old), New: word(tt.new), Scheme: SchemeAtomic}})
		if err != nil {
			t.Fatal(err)
		}
		if got := Kinds(j, nil)[0]; got != tt.want {
			t.Errorf("%08x to %08x: %s, want %s", tt.old, tt.new, got, tt.want)
		}
	}
}

// TestRecordedKinds would catch a kind of real poke that is not told, and one
// told where the bytes deny it.
func TestRecordedKinds(t *testing.T) {
	for _, name := range recordings {
		r := readRecording(t, name)
		j := r.journal(t)
		syms := r.symbols(t)
		count := map[string]int{}
		for i, k := range Kinds(j, syms) {
			p := j.Poke(i)
			count[k.String()]++
			s, off, _ := syms.Lookup(p.Addr, p.Time)
			if k == KindUnknown {
				t.Errorf("%s: %#x %s: % x to % x is of no kind", name, p.Addr, s.Format(off), p.Old, p.New)
			}
			if k == KindBPF { // none was loaded in any of them
				t.Errorf("%s: %#x %s: BPF", name, p.Addr, s.Format(off))
			}
			if k == KindFtrace && s.Name != "" && !strings.HasPrefix(s.Name, "ftrace") && off > 4 {
				t.Errorf("%s: %#x %s: ftrace inside a function: % x to % x", name, p.Addr, s.Format(off), p.Old, p.New)
			}
		}
		var list []string
		for _, k := range slices.Sorted(maps.Keys(count)) {
			list = append(list, k)
		}
		t.Logf("%s: %v %v", name, list, count)
	}
}

// TestKindsA32 would catch the same for A32 and T32.
func TestKindsA32(t *testing.T) {
	const at, detour = uint64(0xc0010000), uint64(0xbf000000)
	for _, tt := range []struct {
		old, new string // in memory
		want     Kind
	}{
		{"\x00\xf0\x20\xe3", "\x04\x00\x00\xea", KindJumpLabel}, // nop; b
		{"\x00\x00\xa0\xe1", "\x04\x00\x00\xea", KindJumpLabel}, // mov r0, r0; b
		{"\xaf\xf3\x00\x80", "\x00\xf0\x05\xb8", KindJumpLabel}, // nop.w; b.w
		{"\x00\xe0", "\x00\xbf", KindJumpLabel},                 // b.n; nop
		{"\x00\x40\xbd\xe8", "\x04\x00\x00\xeb", KindFtrace},    // pop {lr}; bl
		{"\x5d\xf8\x04\xeb", "\x00\xf0\x05\xf8", KindFtrace},    // pop.w {lr}; bl
		{"\x01\x00\x80\x22", "\xf8\x01\xf0\x27", KindKprobe},    // addcs; udfcs
		{"\x10\xb5", "\x18\xde", KindKprobe},                    // push; udf
		{"\xf0\xf7\x18\xa0", "\x2d\xe9\xf0\x41", KindKprobe},    // udf.w; push.w
		{"\xf8\x01\xf0\xe7", "\xfe\xbf\xbf\xea", KindOptprobe},  // udf; b to the detour
		{"\xfe\xbf\xbf\x0a", "\xf8\x01\xf0\x07", KindOptprobe},  // beq to the detour; udfeq
		{"\xf8\x01\xf0\xe7", "\x04\x00\x00\xea", KindKprobe},    // udf; b elsewhere
		{"\x01\x00\x80\xe2", "\x00\xf0\x20\xe3", KindUnknown},   // add; nop
		{"\x04\x00\x00\xea", "\x04\x00\x00\xeb", KindUnknown},   // b; bl
	} {
		j, err := NewJournal([]Poke{
			{Time: 1, Addr: detour, New: make([]byte, 24), Scheme: SchemeSlot},
			{Time: 2, Begin: 2, End: 2, Addr: at, Old: []byte(tt.old), New: []byte(tt.new), Scheme: SchemeStop},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := Kinds(j, nil)[1]; got != tt.want {
			t.Errorf("% x to % x: %s, want %s", tt.old, tt.new, got, tt.want)
		}
	}
}
