package decoder

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// jitRecord makes a record of a jitdump.
func jitRecord(id uint32, time uint64, body ...any) []byte {
	b := bin(body...)
	return bin(id, uint32(16+len(b)), time, b)
}

// jitDump makes a jitdump of process 10.
func jitDump(flags uint64, records ...[]byte) []byte {
	b := bin(uint32(0x4A695444), uint32(1), uint32(40), uint32(62), uint32(0), uint32(10), uint64(1), flags)
	for _, r := range records {
		b = append(b, r...)
	}
	return b
}

// jitLoad is code that was made.
func jitLoad(time, addr, index uint64, name string, code []byte) []byte {
	return jitRecord(0, time, uint32(10), uint32(10), addr, addr, uint64(len(code)), index, name, uint8(0), code)
}

// namedCode is what ran, as a sink.
type namedCode struct {
	s   *Session
	out []string
}

// Flow renders what b holds: name, code, epochs, line and verdict of each range.
func (x *namedCode) Flow(b *flow.Batch) error {
	for i := range b.Ranges {
		r := &b.Ranges[i]
		time := b.Stamps[r.Stamp].Time.Likely()
		sym, off, _, _ := x.s.Symbol(r.Block.Space, r.Block.Addr, time)
		code := make([]byte, r.End()-r.Block.Addr)
		code = code[:x.s.Code(code, r.Block.Space, r.Block.Addr, r.Block.Span.From)]
		span := x.s.UserEpochs(r.Block.Space, r.Block.Addr)
		until := "*"
		if span.Until != event.MaxEpoch {
			until = fmt.Sprint(span.Until)
		}
		line := ""
		if f := x.s.Lines(r.Block.Space, r.Block.Addr, time); len(f) > 0 {
			line = fmt.Sprintf(" %s:%d", f[0].File, f[0].Line)
		}
		x.out = append(x.out, fmt.Sprintf("%s+%d %s %d..%s%s %v", sym, off, hex.EncodeToString(code), span.From, until, line, r.Verdict))
	}
	for i := range b.Notes {
		if b.Notes[i].Kind == flow.NoteGap {
			x.out = append(x.out, "gap "+b.Notes[i].Gap.Reason.String())
		}
	}
	return nil
}

// jitEvents are the events of process 10: it maps memory, tells of its jitdump, and
// changes the memory's protection between.
func jitEvents(more ...string) string {
	list := append([]string{
		`{"type":"stream","version":1}`,
		`{"type":"comm","time":1,"pid":10,"tid":10,"comm":"java","exec":true}`,
		`{"type":"mmap","time":2,"pid":10,"tid":10,"addr":"7000","len":4096,"prot":7,"file":"//anon"}`,
		`{"type":"mmap","time":3,"pid":10,"tid":10,"addr":"900000","len":4096,"prot":5,"file":"/home/u/.debug/jit/jit-10.dump"}`,
		`{"type":"itrace_start","time":100,"cpu":0,"pid":10,"tid":10}`,
		`{"type":"mmap","time":500,"pid":10,"tid":10,"addr":"7000","len":4096,"prot":5,"file":"//anon"}`,
	}, more...)
	return strings.Join(list, "\n") + "\n"
}

// jitTrace is a trace of one visit to an address at each of some times: it runs up to the
// system call there.
func jitTrace(t *testing.T, addr uint64, times ...uint64) string {
	var b []byte
	for _, at := range times {
		b = must(t, b, fmt.Sprintf("psb\ntsc 0x%x\nmode.exec l\npsbend\ntip.pge 6: 0x%x\ntip.pgd\ntsc 0x%x\n", at, addr, at+20))
	}
	return string(must(t, b, fmt.Sprintf("psb\ntsc 0x%x\npsbend\n", times[len(times)-1]+100)))
}

// TestJITBefore would catch a claim that rests on code of which its program has not yet said
// that it is there. At 400 other code may have run, with the same packets: 66 90 0f 05 lay
// there, so nothing began at 0x7001. What runs before the next event but one is open too.
func TestJITBefore(t *testing.T) {
	_, _, write := twoPrograms(t)
	write("early/jit-10.dump", string(jitDump(0, jitLoad(600, 0x7000, 1, "one", []byte{0x90, 0x0f, 0x05}))))
	x := &namedCode{s: opened(t, Config{
		Raw:    []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: write("early/cpu0.pt", jitTrace(t, 0x7000, 400, 700))}},
		Events: write("early/e.jsonl", jitEvents()),
	})}
	flowed(t, x.s, x)
	want := []string{"one+0 900f05 0..* ambiguous", "one+0 900f05 0..* certain"}
	if !slices.Equal(x.out, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(x.out, "\n"), strings.Join(want, "\n"))
	}
}

// TestJITDump would catch code of a program's JIT with the name, the bytes or the epoch of
// what lay at its address at another time. One address holds three functions in turn, and
// the first moves away before.
func TestJITDump(t *testing.T) {
	one, two, three := []byte{0x90, 0x0f, 0x05}, []byte{0x66, 0x90, 0x0f, 0x05}, []byte{0x31, 0xc0, 0x0f, 0x05}
	lines := jitRecord(2, 590, uint64(0x7000), uint64(2), uint64(0x7000), uint32(12), uint32(0), "Two.java\x00", uint64(0x7002), uint32(13), uint32(0), "\xff\x00")
	dump := jitDump(0, jitLoad(300, 0x7000, 1, "one", one), jitRecord(1, 550, uint32(10), uint32(10), uint64(0x7000), uint64(0x7000), uint64(0x7800), uint64(3), uint64(1)),
		lines, jitLoad(600, 0x7000, 2, "two", two), jitLoad(900, 0x7000, 3, "three", three), jitRecord(3, 950))
	_, _, write := twoPrograms(t)
	events := write("jit/e.jsonl", jitEvents())
	for _, beside := range []bool{true, false} {
		c := Config{Raw: []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: write("jit/cpu0.pt", jitTrace(t, 0x7000, 400, 700, 1000)+jitTrace(t, 0x7800, 1200))}}, Events: events}
		if beside {
			write("jit/jit-10.dump", string(dump))
		} else {
			c.SymFS = filepath.Dir(write("root/x", ""))
			write("root/home/u/.debug/jit/jit-10.dump", string(dump))
		}
		x := &namedCode{s: opened(t, c)}
		flowed(t, x.s, x)
		want := []string{"one+0 900f05 0..1 certain", "two+0 66900f05 1..2 Two.java:12 certain", "three+0 31c00f05 2..* certain", "one+0 900f05 0..* certain"}
		if !slices.Equal(x.out, want) {
			t.Errorf("beside the recording %t:\n%s\nwant\n%s", beside, strings.Join(x.out, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestJITCut would catch code of a jitdump that is certain after records which were lost, and
// code before them that is lost, too. The lost record replaces one of two pieces. Both are
// unknown from its time on, or if that is not known, from that of the last whole record.
func TestJITCut(t *testing.T) {
	one, two := []byte{0x90, 0x0f, 0x05}, []byte{0x66, 0x90, 0x0f, 0x05}
	const lost = 16 + 40 + 4 + 4 // bytes of the last record
	_, _, write := twoPrograms(t)
	whole := jitDump(0, jitLoad(300, 0x7000, 1, "one", one), jitLoad(350, 0x9ffe, 2, "far", one), jitLoad(600, 0x7000, 3, "two", two))
	trace := jitTrace(t, 0x7000, 400, 500) + jitTrace(t, 0x9ffe, 550) + jitTrace(t, 0x7000, 700) + jitTrace(t, 0x9ffe, 800)
	for _, c := range []struct {
		bytes int // cut off
		since string
		want  []string
	}{
		{3, "from 0.000000600 s on", []string{"one", "one", "far", "gap", "gap"}},
		{lost - 16, "from 0.000000600 s on", []string{"one", "one", "far", "gap", "gap"}},
		{lost - 15, "from 0.000000350 s on", []string{"gap", "gap", "gap", "gap", "gap"}},
		{lost, "", []string{"one", "one", "far", "one", "far"}},
	} {
		write("cut/jit-10.dump", string(whole[:len(whole)-c.bytes]))
		x := &namedCode{s: opened(t, Config{
			Raw:    []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: write("cut/cpu0.pt", trace)}},
			Events: write("cut/e.jsonl", jitEvents()),
		})}
		flowed(t, x.s, x)
		var got []string
		for _, l := range x.out {
			if l != "gap no-text" && !strings.HasSuffix(l, " certain") {
				t.Errorf("%d bytes cut off: %s", c.bytes, l)
			}
			got = append(got, l[:3])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d bytes cut off: %q, want %q", c.bytes, x.out, c.want)
		}
		said := slices.ContainsFunc(x.s.Warnings(), func(w Warning) bool {
			return w.Damage && strings.Contains(w.What, "jit-10.dump+0x") && strings.Contains(w.What, "cut short: "+c.since)
		})
		if said != (c.since != "") {
			t.Errorf("%d bytes cut off: %v", c.bytes, x.s.Warnings())
		}
	}
}

// TestJITUntimed would catch code of a jitdump that is claimed though nobody knows when it
// was made. The clock is not known, a time is 0, or all are the same. One address holds
// three functions in turn, another one alone.
func TestJITUntimed(t *testing.T) {
	one, two := []byte{0x90, 0x0f, 0x05}, []byte{0x66, 0x90, 0x0f, 0x05}
	for _, c := range []struct {
		name, want string
		ticks      uint64
		times      [4]uint64
	}{
		{"ticks", "another clock", 1, [4]uint64{10, 20, 30, 40}},
		{"a time of 0", "0, or all the same", 0, [4]uint64{300, 0, 600, 310}},
		{"one time", "0, or all the same", 0, [4]uint64{300, 300, 300, 300}},
	} {
		dump := jitDump(c.ticks, jitLoad(c.times[0], 0x7000, 1, "one", one), jitLoad(c.times[1], 0x7000, 2, "two", two),
			jitLoad(c.times[2], 0x7000, 3, "three", one), jitLoad(c.times[3], 0x7800, 4, "alone", one))
		_, _, write := twoPrograms(t)
		write("jit/jit-10.dump", string(dump))
		x := &namedCode{s: opened(t, Config{
			Raw:    []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: write("jit/cpu0.pt", jitTrace(t, 0x7000, 700)+jitTrace(t, 0x7800, 1200))}},
			Events: write("jit/e.jsonl", jitEvents()),
		})}
		flowed(t, x.s, x)
		want := []string{"gap no-text", "alone+0 900f05 0..* ambiguous"}
		if !slices.Equal(x.out, want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(x.out, "\n"), strings.Join(want, "\n"))
		}
		if w := fmt.Sprint(x.s.Warnings()); !strings.Contains(w, c.want) || !strings.Contains(w, "3 pieces of code are left out") {
			t.Errorf("%s: %s", c.name, w)
		}
	}
}
