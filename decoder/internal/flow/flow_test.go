package flow

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
)

// testPoke is a poke of testText.
type testPoke struct {
	addr     uint64
	old, new string
	time     uint64
	batch    int
}

// testText is the slow twin of a Text: it replays every poke on every call.
type testText struct {
	addr  uint64
	bytes []byte
	pokes []testPoke
}

func (t *testText) as(at event.Epoch) []byte {
	b := slices.Clone(t.bytes)
	for _, p := range t.pokes[:min(int(at), len(t.pokes))] {
		copy(b[p.addr-t.addr:], p.new)
	}
	return b
}

func (t *testText) cut(addr uint64, n int, at event.Epoch) string {
	b := t.as(at)
	if addr < t.addr || addr >= t.addr+uint64(len(b)) {
		return ""
	}
	b = b[addr-t.addr:]
	return string(b[:min(n, len(b))])
}

func (t *testText) Fetch(dst []byte, space uint32, addr uint64, at event.Epoch) (int, event.Span) {
	return t.fetch(dst, addr, at, t.cut)
}

// fetch is Fetch of what cut gives at each epoch.
func (t *testText) fetch(dst []byte, addr uint64, at event.Epoch, cut func(addr uint64, n int, at event.Epoch) string) (int, event.Span) {
	s := cut(addr, len(dst), at)
	copy(dst, s)
	span := event.Span{From: at, Until: at + 1}
	for span.From > 0 && cut(addr, len(dst), span.From-1) == s {
		span.From--
	}
	for int(span.Until) <= len(t.pokes) && cut(addr, len(dst), span.Until) == s {
		span.Until++
	}
	if int(span.Until) > len(t.pokes) {
		span.Until = event.MaxEpoch
	}
	return len(s), span
}

func (t *testText) Epochs(m event.Time) (lo, hi event.Epoch) {
	for _, p := range t.pokes {
		if p.time <= m.Lo {
			lo++
		}
		if p.time <= m.Hi {
			hi++
		}
	}
	return lo, hi
}

func (t *testText) Edges(lo, hi event.Epoch) (loEnd, hiEnd uint64) {
	end := func(e event.Epoch) uint64 {
		if int(e) < len(t.pokes) {
			return t.pokes[e].time
		}
		return math.MaxUint64
	}
	return end(lo), end(hi)
}

func (t *testText) Between(dst []int, addr uint64, n int, lo, hi event.Epoch) []int {
	for i := int(lo); i < min(int(hi), len(t.pokes)); i++ {
		p := t.pokes[i]
		if p.addr < addr+uint64(n) && addr < p.addr+uint64(len(p.new)) {
			dst = append(dst, i)
		}
	}
	return dst
}

func (t *testText) Poke(i int) Poke {
	p := t.pokes[i]
	return Poke{Addr: p.addr, Len: len(p.new), Time: p.time, Begin: p.time, Until: math.MaxUint64, Trap: p.old[0] != 0xcc, Window: true, DoesNew: true, Guarded: true}
}

func (t *testText) Floor(i int) event.Epoch {
	for k := range t.pokes {
		if t.pokes[k].batch == t.pokes[i].batch {
			return event.Epoch(k)
		}
	}
	return 0
}

// events is a Source.
type events []event.Event

func (s *events) Next(e *event.Event) bool {
	if len(*s) == 0 {
		return false
	}
	*e = (*s)[0]
	*s = (*s)[1:]
	return true
}

// prints is a Sink that writes the flow as text. It writes addresses in hex
// relative to 0x1000, with a letter behind each for its verdict if it is not
// certain. It writes gaps and traps by name.
type prints struct{ strings.Builder }

func (p *prints) Flow(b *Batch) error {
	for n, r := range b.All() {
		switch {
		case r != nil:
			for _, ip := range r.Block.appendIPs(nil, int(r.N)) {
				fmt.Fprintf(p, "%x%s ", ip-0x1000, []string{"", "t", "x", "u", "?"}[r.Verdict])
			}
		case n.Kind == NoteGap:
			fmt.Fprintf(p, "gap:%v ", n.Gap.Reason)
		case n.Kind == NoteTrap:
			fmt.Fprintf(p, "trap:%x/%d ", n.IP-0x1000, n.Poke)
		}
	}
	return nil
}

func at(lo, hi uint64, e event.Event) event.Event {
	e.Time = event.Time{Lo: lo, Hi: hi}
	return e
}

// syncAt, bits and to make events; bits takes the outcomes as "tnt...".
func syncAt(ip uint64) event.Event {
	return event.Event{Kind: event.Sync, Flags: event.FlagIP | event.FlagMode, Mode: uint8(isa.Mode64), IP: ip}
}

func bits(s string) event.Event {
	e := event.Event{Kind: event.Outcomes, N: uint8(len(s))}
	for i, c := range s {
		if c == 't' {
			e.Value |= 1 << (63 - i)
		}
	}
	return e
}

func to(ip uint64) event.Event {
	return event.Event{Kind: event.Target, Flags: event.FlagIP, IP: ip}
}

func async(from, ip uint64) event.Event {
	return event.Event{Kind: event.Async, Flags: event.FlagIP, From: from, IP: ip}
}

func end() event.Event { return event.Event{Kind: event.End, Time: event.Always} }

func walk(t *testing.T, text *testText, evs ...event.Event) string {
	t.Helper()
	w := testWalker(text)
	var p prints
	src := events(evs)
	if err := w.Run(&src, &p); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(p.String())
}

// testWalker walks text with PT's rules.
func testWalker(text Text) *Walker {
	return NewWalker(text, NewCache(), Config{
		ISA:    x86.Decoder{},
		Rules:  isa.Rules{Waypoints: isa.Set(isa.Cond), Returns: isa.ReturnsCompressed},
		Mode:   isa.Mode64,
		Breaks: []uint64{0x1080},
	})
}

// cutNotes keeps the notes of cuts.
type cutNotes []Note

func (l *cutNotes) Flow(b *Batch) error {
	for _, n := range b.Notes {
		if n.Kind == NoteCut {
			*l = append(*l, n)
		}
	}
	return nil
}

// code places bytes at offsets from 0x1000, int3 elsewhere.
func code(parts map[int]string) *testText {
	b := []byte(strings.Repeat("\xcc", 0x100))
	for off, s := range parts {
		copy(b[off:], s)
	}
	return &testText{addr: 0x1000, bytes: b}
}

// TestWalk would catch a walk that loses its way in plain code: branches both
// ways, calls and compressed returns, targets, deferred targets, events that
// stop it between branches.
func TestWalk(t *testing.T) {
	text := code(map[int]string{
		0x00: "\x90\x74\x0e",                 // nop; je 0x11
		0x03: "\xe8\x18\x00\x00\x00",         // call 0x20
		0x08: "\xeb\xf6",                     // jmp 0
		0x11: "\xff\xe0",                     // jmp *rax
		0x20: "\x90\xc3",                     // nop; ret
		0x30: "\x90\x90\x90\x74\xfb\xff\xe0", // nop x3; je 0x30; jmp *rax
		0x40: "\x90\x48\xcf",                 // nop; iretq
	})
	for _, c := range []struct {
		name, want string
		evs        []event.Event
	}{
		{"branches, compressed return, target",
			"0 1 3 20 21 8 0 1 11 30 31",
			[]event.Event{syncAt(0x1000), bits("nt"), bits("t"), to(0x1030), syncAt(0x1032)}},
		{"target of an uncompressed return",
			"0 1 3 20 21 30 31 32 33 30 31 32 33 35 20",
			[]event.Event{syncAt(0x1000), bits("n"), to(0x1030), bits("tn"), to(0x1020), syncAt(0x1021)}},
		{"target deferred behind later outcomes",
			"0 1 11 30 31 32 33 35 0",
			[]event.Event{syncAt(0x1000), bits("tn"), to(0x1030), to(0x1000), syncAt(0x1001)}},
		{"interrupt and back",
			"0 1 11 30 31 40 41 32 33 35",
			[]event.Event{syncAt(0x1000), bits("t"), to(0x1030), async(0x1032, 0x1040), to(0x1032), bits("n"), to(0x1020), end()}},
		{"contradiction, then on at the next address",
			"gap:mismatch 40 41 30",
			[]event.Event{syncAt(0x1000), to(0x1040), to(0x1030), syncAt(0x1031)}},
	} {
		if got := walk(t, text, c.evs...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestPoke would catch a walk that takes the wrong text around a poke, claims
// what the trace does not decide, or does not see what it does decide.
func TestPoke(t *testing.T) {
	// 0: nop5 <-> jmp 0x11;  5: je 0; 7: jmp *rax;  0x11: jne 0; 0x13: ret
	mk := func(pokes ...testPoke) *testText {
		x := code(map[int]string{
			0x00: "\x0f\x1f\x44\x00\x00", 0x05: "\x74\xf9\xff\xe0",
			0x11: "\x75\xed\xff\xe0", 0x80: "\x48\xcf",
			0x30: "\x0f\x1f\x44\x00\x00\xff\xe0"})
		x.pokes = pokes
		return x
	}
	nop, jmp := "\x0f\x1f\x44\x00\x00", "\xe9\x0c\x00\x00\x00"
	p := testPoke{addr: 0x1000, old: nop, new: jmp, time: 100}
	for _, c := range []struct {
		name, want string
		text       *testText
		evs        []event.Event
	}{
		{"before the poke", "0 5 0 5 7 30", mk(p), []event.Event{
			at(10, 20, syncAt(0x1000)), at(20, 30, bits("tn")), at(30, 40, to(0x1030)), at(40, 40, syncAt(0x1035))}},
		{"after the poke", "0 11 0 11 13 30", mk(p), []event.Event{
			at(110, 120, syncAt(0x1000)), at(120, 130, bits("tn")), at(130, 140, to(0x1030)), at(140, 140, syncAt(0x1035))}},
		{"inside, told by where the flow stops", "0t 5t 0t", mk(p), []event.Event{
			at(10, 200, syncAt(0x1000)), at(10, 200, bits("t")), at(10, 200, syncAt(0x1005))}},
		{"inside, nothing tells", "0? 5? 0? 5? 7? 30t", mk(p), []event.Event{
			at(10, 200, syncAt(0x1000)), at(10, 100, bits("tn")), at(10, 200, to(0x1030)), at(200, 200, syncAt(0x1035))}},
		{"inside, a trap tells", "trap:0/0 80 0x 11 13 30", mk(p), []event.Event{
			at(10, 200, syncAt(0x1000)), at(10, 200, async(0x1000, 0x1080)), at(10, 200, to(0x1000)), at(10, 200, bits("n")), at(10, 200, to(0x1030)), at(200, 200, syncAt(0x1035))}},
	} {
		got := walk(t, c.text, c.evs...)
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestPokeOrder would catch evidence at one site that does not settle another.
// A CPU that meets a breakpoint of the second batch has taken in all of the
// first, as long as they are two.
func TestPokeOrder(t *testing.T) {
	const nop, longNop = "\x0f\x1f\x44\x00\x00", "\x66\x66\x66\x66\x90"
	for batch, want := range []string{"0? trap:5/1 80t 20t 0? 5? 20t 30", "0? trap:5/1 80 20 0x 5x 20 30"} {
		text := code(map[int]string{
			0x00: nop, 0x05: nop, 0x0a: "\xff\xe0", // jmp *rax
			0x20: "\xff\xe0", 0x30: "\x90\xff\xe0", 0x80: "\x48\xcf",
		})
		text.pokes = []testPoke{
			{addr: 0x1000, old: nop, new: longNop, time: 100},
			{addr: 0x1005, old: nop, new: "\xe9\x16\x00\x00\x00", time: 150, batch: batch},
		}
		if got := walk(t, text, at(10, 10, syncAt(0x1000)), at(10, 300, async(0x1005, 0x1080)), at(10, 300, to(0x1020)),
			at(10, 300, to(0x1000)), at(10, 300, to(0x1030)), at(300, 300, syncAt(0x1031))); got != want {
			t.Errorf("second batch %d:\n got %s\nwant %s", batch, got, want)
		}
	}
}

// TestCutNotes would catch a cut that is settled and not told of, and an
// ambiguous one whose alternatives are not listed.
func TestCutNotes(t *testing.T) {
	text := code(map[int]string{
		0x00: "\x0f\x1f\x44\x00\x00", 0x05: "\x74\xf9\xff\xe0", // nop5; je 0; jmp *rax
		0x11: "\x75\xed\xff\xe0", // jne 0; jmp *rax
		0x30: "\xff\xe0",
	})
	text.pokes = []testPoke{{addr: 0x1000, old: "\x0f\x1f\x44\x00\x00", new: "\xe9\x0c\x00\x00\x00", time: 100}}
	for _, c := range []struct {
		name    string
		evs     []event.Event
		verdict Verdict
		others  []Stretch
	}{
		{"the new text, told by where the flow stops", []event.Event{
			at(10, 200, syncAt(0x1000)), at(200, 200, syncAt(0x1011))}, Trace, nil},
		{"nothing tells", []event.Event{
			at(10, 200, syncAt(0x1000)), at(10, 100, bits("n")), at(10, 200, to(0x1030)), at(200, 200, syncAt(0x1030))}, Ambiguous,
			[]Stretch{{0x1000, 0x1005, 1, 1}, {0x1011, 0x1015, 2, 0}}},
	} {
		var got cutNotes
		src := events(c.evs)
		if err := testWalker(text).Run(&src, &got); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Verdict != c.verdict || got[0].Poke != 0 || !slices.Equal(got[0].Others, c.others) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// appendIPs appends the addresses of the block's first n instructions.
func (b *Block) appendIPs(dst []uint64, n int) []uint64 {
	a := b.Addr
	for _, l := range b.Lens[:n] {
		dst = append(dst, a)
		a += uint64(l)
	}
	return dst
}
