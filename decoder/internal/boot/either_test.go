package boot

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/kcore"
)

// bytewise reads each byte as an instruction with a target of its own, but 9 as 1.
type bytewise struct{ isa.Decoder }

func (bytewise) Decode(in *isa.Insn, code []byte, _ uint64, _ isa.Mode) isa.Status {
	*in = isa.Insn{Len: 1, Target: uint64(code[0] % 8)}
	return isa.OK
}

// TestEither would catch what only one of several codes leads to, and is not in doubt. It would
// catch doubt by code that the trace contradicts in the segment, and codes of two places that are
// not tried together. And it would catch codes that are tried though a trace tells them from none.
func TestEither(t *testing.T) {
	list := []kcore.Learned{
		{Addr: 0x10, Code: []byte{1}, Others: [][]byte{{2}, {9}, {3}}, Either: true},
		{Addr: 0x20, Code: []byte{4}, Others: [][]byte{{5}}},
		{Addr: 0x30, Code: []byte{6}, Others: [][]byte{{7}}, Either: true},
	}
	r := &Reader{ISA: bytewise{}, Lists: new(Lists), Fetch: func([]byte, uint64) int { return 0 }}
	if NewEither(list[1:2], r) != nil {
		t.Error("code that does the same is decoded again")
	}
	e := NewEither(list, r)
	if len(e.over) != 5 {
		t.Fatalf("%d other codes, want 5", len(e.over))
	}
	// Each code leads to an address of its own behind its place, and 3 to another end, which is contradicted.
	flowOf := func(a, b byte) (ips []uint64) {
		last := uint64(0x50)
		if a == 3 {
			last++
		}
		return []uint64{8, 0x10, 0x100 + uint64(a), 0x40, 0x30, 0x200 + uint64(b), last}
	}
	tried := map[string]bool{}
	again := func(over *Patches, to flow.Sink) error {
		a, b := []byte{1}, []byte{6}
		if over != nil {
			over.Lay(a, 0x10)
			over.Lay(b, 0x30)
		}
		tried[fmt.Sprint(a[0], b[0])] = true
		k := to.(*ranAs)
		for i, ip := range flowOf(a[0], b[0]) {
			k.runsOne(int64(i), ip, 1)
		}
		k.bad = a[0] == 3
		return nil
	}
	got, err := e.Doubts(nil, again, nil).(*doubter).find()
	if err != nil || fmt.Sprint(got) != "[{1 3} {4 6}]" {
		t.Errorf("in doubt: %v, %v; want what lies at a place and behind it", got, err)
	}
	if len(tried) != 6 {
		t.Errorf("tried %v, want all six", tried)
	}
}

// flagged reads each byte as an instruction whose flags it is.
type flagged struct{ isa.Decoder }

func (flagged) Decode(in *isa.Insn, code []byte, _ uint64, _ isa.Mode) isa.Status {
	*in = isa.Insn{Len: 1, Class: isa.Call, Target: 8, Flags: isa.Flags(code[0])}
	return isa.OK
}

// TestEitherFlags would catch code that is not tried although it goes to another instruction set,
// or may fail: as BLX in place of BL, or BXEQ in place of BX. Nothing done in another way is the same.
func TestEitherFlags(t *testing.T) {
	r := &Reader{ISA: flagged{}, Fetch: func([]byte, uint64) int { return 0 }}
	e := NewEither([]kcore.Learned{{
		Addr: 0x10, Code: []byte{0}, Either: true,
		Others: [][]byte{{byte(isa.FlagInterwork)}, {byte(isa.FlagConditional)}, {byte(isa.FlagNop)}},
	}}, r)
	if len(e.over) != 2 {
		t.Errorf("%d other codes, want 2", len(e.over))
	}
}

// TestEitherMany would catch codes made for all that places allow together, which may be more than
// memory holds. It would also catch too few to say that there are too many.
func TestEitherMany(t *testing.T) {
	for _, c := range []struct{ places, want int }{{1, 7}, {2, 63}, {3, maxEither + 1}, {8, maxEither + 1}} {
		var list []kcore.Learned
		for i := range c.places {
			l := kcore.Learned{Addr: 0x10 * uint64(i+1), Code: []byte{0}, Either: true}
			for code := range byte(7) {
				l.Others = append(l.Others, []byte{code + 1})
			}
			list = append(list, l)
		}
		e := NewEither(list, &Reader{ISA: bytewise{}, Fetch: func([]byte, uint64) int { return 0 }})
		if len(e.over) != c.want {
			t.Errorf("%d places: %d other codes, want %d", c.places, len(e.over), c.want)
		}
	}
}

// readerOf returns a reader of code at an address, with zeros around it.
func readerOf(code []byte, at uint64) *Reader {
	fetch := func(dst []byte, addr uint64) int {
		clear(dst)
		if addr-at < uint64(len(code)) {
			copy(dst, code[addr-at:])
		}
		return len(dst)
	}
	return &Reader{ISA: x86.Decoder{}, Mode: isa.Mode64, Lists: new(Lists), Fetch: fetch, Steady: func(dst []byte, addr uint64) bool { return fetch(dst, addr) > 0 }}
}

// TestEitherTold would catch segments that are decoded with codes of which the code itself tells that they lead to one
// place, or decoded on where the trace contradicts.
func TestEitherTold(t *testing.T) {
	code := []byte{0x90, 0x90, 0x90, 0x66, 0x90, 0x90, 0xc3} // NOPs and RET
	const at = 0x1000
	r := readerOf(code, at)
	list := []kcore.Learned{{Addr: at + 1, Code: []byte{0x90, 0x90}, Others: [][]byte{{0x66, 0x90}, {0xeb, 0x02}, {0xe8, 0x00}}, Either: true}}
	e := NewEither(list, r)
	decoded, refuted := 0, 0
	again := func(over *Patches, to flow.Sink) error {
		k := to.(*ranAs)
		if decoded++; over != nil {
			err := k.Flow(&flow.Batch{Notes: []flow.Note{{Kind: flow.NoteGap, Gap: event.Gap{Reason: event.Mismatch}}}})
			if err == errRefuted {
				refuted++
			}
			return err
		}
		for _, ip := range []uint64{0, 1, 2, 3, 5, 6} {
			k.runsOne(0, at+ip, 1)
		}
		return nil
	}
	got, err := e.Doubts(nil, again, nil).(*doubter).find()
	if err != nil || fmt.Sprint(got) != "[{1 4}]" {
		t.Errorf("in doubt: %v, %v; want the place, and what the jump skips", got, err)
	}
	if decoded != 2 || refuted != 1 {
		t.Errorf("decoded %d times, of which %d end early; want 2, once as it is and once with the call, which ends early", decoded, refuted)
	}
}

// TestEitherSpliced would catch a segment that is decoded with a code though its flow can be made out of that with another one.
// It would catch one that is decoded for that, where another one is kept. The code that is taken spends an outcome, so it tells
// of neither.
func TestEitherSpliced(t *testing.T) {
	code := []byte{0x90, 0x74, 0x00, 0x90, 0x90, 0xc3} // NOP, JE, NOPs and RET
	const at = 0x1000
	r := readerOf(code, at)
	codes := [][]byte{{0x90, 0x90}, {0x66, 0x90}, {0xeb, 0x00}}
	list := []kcore.Learned{{Addr: at + 1, Code: code[1:3], Others: codes, Either: true}}
	for kept := range codes {
		e := NewEither(list, r)
		var decoded []string
		again := func(over *Patches, to flow.Sink) error {
			ways := map[byte][]uint64{0x74: {0, 1, 3, 4, 5}, 0x90: {0, 1, 2, 3, 4, 5}, 0x66: {0, 1, 3, 4, 5}, 0xeb: {0, 1, 3, 4, 5}}
			b := slices.Clone(code[1:2])
			off := int64(0)
			if over != nil {
				over.Lay(b, at+1)
				decoded = append(decoded, fmt.Sprintf("%x", b))
				off = 1 // the outcome is of another branch
			}
			for i, ip := range ways[b[0]] {
				to.(*ranAs).runsOne(max(off, int64(min(i/2, 1))), at+ip, 1)
			}
			return nil
		}
		first := func(over *Patches) bool { return bytes.Equal(over.list[0].code, codes[kept]) }
		got, err := e.Doubts(nil, again, first).(*doubter).find()
		if want := fmt.Sprintf("[%x]", codes[kept][:1]); err != nil || fmt.Sprint(decoded) != want {
			t.Errorf("decoded with %v, %v; want %s", decoded, err, want)
		}
		if fmt.Sprint(got) != "[{0 2}]" {
			t.Errorf("in doubt: %v; want what is before the outcome", got)
		}
	}
}
