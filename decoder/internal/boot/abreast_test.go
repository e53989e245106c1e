package boot

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// round is what a trace has of one run through code up to its return.
type round struct {
	outcomes []bool
	stop     uint64 // an event states this address; 0: none does
	before   int    // outcomes before that event
}

// off returns the offset of the event that instructions lead to behind n outcomes. Two outcomes share a packet.
func (r *round) off(n int, stopped bool) int64 {
	switch {
	case r.stop != 0 && !stopped && n == r.before:
		return 50
	case n == len(r.outcomes):
		return 99
	case r.stop != 0 && n >= r.before:
		return int64(60 + (n-r.before)/2)
	}
	return int64(n / 2)
}

// roundsIn is what a segment comes to with some code, told by single steps. With draw, outcomes come from it and
// are put into rounds, and events are where the flow comes by their addresses.
func roundsIn(b *Kernel, code []byte, rounds []round, draw *rand.Rand) (k *ranAs) {
	k = &ranAs{d: &b.doubts}
	var in isa.Insn
	for i := range rounds {
		r := &rounds[i]
		from, counts := k.n, []int(nil)     // counts: of outcomes before each instruction
		stops, used, stopped := 0, 0, false // stops: instructions before the event
		for at := b.text; ; {
			if at == r.stop && !stopped && (draw != nil || used == r.before) {
				r.before, stopped, stops = used, true, len(counts)
				k.notes = append(k.notes, k.n) // as of any event that states an address
			}
			d := at - b.text
			if d >= uint64(len(code)) || (x86.Decoder{}).Decode(&in, code[d:], at, b.mode) != isa.OK || len(counts) > 500 {
				k.bad = true
				return k
			}
			k.runsOne(0, at, in.Len)
			counts = append(counts, used)
			if at += uint64(in.Len); in.Class == isa.Other {
				continue
			}
			if in.Class == isa.Jump {
				at = in.Target
				continue
			}
			if draw == nil && r.stop != 0 && !stopped && used == r.before || in.Class != isa.Cond {
				break // the event comes first, or the code returns
			}
			if draw != nil {
				r.outcomes = append(r.outcomes, draw.IntN(2) == 0)
			}
			if used == len(r.outcomes) {
				k.bad = true
				return k
			}
			if used++; r.outcomes[used-1] {
				at = in.Target
			}
		}
		if draw != nil && !stopped {
			r.stop = 0
		}
		k.bad = k.bad || in.Class != isa.Return || used != len(r.outcomes) || r.stop != 0 && !stopped
		for n, c := range counts {
			k.list[from+n].off = int64(100*i) + r.off(c, stopped && n >= stops)
		}
	}
	return k
}

// ranIn reports whether each run of instructions of a that is not in doubt is a piece of b, in order.
func ranIn(a []ran, doubt []stretch, b []ran) bool {
	for at := 0; at < len(a); {
		end, after := len(a), len(a)
		if len(doubt) > 0 {
			end, after, doubt = doubt[0].from, doubt[0].end, doubt[1:]
		}
		n := end - at
		same := func(x, y ran) bool { return x.ip == y.ip && x.off == y.off }
		k := 0
		for k+n <= len(b) && !slices.EqualFunc(a[at:end], b[k:k+n], same) {
			k++
		}
		if k+n > len(b) {
			return false
		}
		at, b = after, b[k+n:]
	}
	return true
}

// TestAbreast would catch doubt told by following two versions abreast that is other than what decoding again with
// the other version tells. Where loops pass the same places, either may be marked, but what is not in doubt
// has to be what the other version ran. Conditional branches with outcomes, and events that state an address, lie on the way.
func TestAbreast(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0xab7ea57))
	told, doubtful, stopped, parted, gaps, spliced := 0, 0, 0, 0, 0, 0
	for n := range 30000 {
		const size, room = 40, 32 // bytes behind the code are for a decoder that looks ahead
		b := &Kernel{text: 0x1000, code: make([]byte, size+room), mode: isa.Mode64, isa: x86.Decoder{}}
		straight(b.code[:size], r)
		branches := func(code []byte) {
			for i := 0; i+1 < len(code); i++ {
				if code[i] == 0x90 && r.IntN(5) == 0 {
					code[i], code[i+1] = []byte{0x74, 0x74, 0xeb}[r.IntN(3)], byte(r.IntN(24)-12)
				}
			}
		}
		branches(b.code[:size-10])
		other := slices.Clone(b.code)
		at := b.text
		var in isa.Insn
		for range r.IntN(5) {
			if b.isa.Decode(&in, b.code[at-b.text:], at, b.mode) == isa.OK {
				at += uint64(in.Len)
			}
		}
		code := make([]byte, 1+r.IntN(7))
		for i := range code {
			code[i] = 0x90
		}
		branches(code)
		if from := r.IntN(len(code)); r.IntN(2) == 0 { // the rest is the same
			copy(code[from:], b.code[at-b.text+uint64(from):])
		}
		if at+uint64(len(code)) >= b.text+36 {
			continue
		}
		copy(other[at-b.text:], code)
		p := &Patches{list: []patch{{image.Range{Addr: at, Len: uint64(len(code))}, code}}}
		if d := differing(at, b.code[at-b.text:][:len(code)], code); d.Len > 0 {
			p.other = []image.Range{d}
		}
		b.doubts.sites = []site{{addr: at, last: at + uint64(len(code)) - 1}}
		rounds := make([]round, 3)
		if r.IntN(2) == 0 {
			rounds[r.IntN(3)].stop = b.text + r.Uint64N(size)
		}
		base := roundsIn(b, b.code, rounds, r)
		if base.bad {
			continue
		}
		want := roundsIn(b, other, rounds, nil)
		k := untold{isa: b.isa, mode: b.mode, steady: b.steady, site: b.doubts.at}
		var got marks
		if !k.tell(base, p, &got, func(*site) bool { return true }, func(*site) {}, func(*site) *aside { return &aside{} }) {
			continue
		}
		if sparsely(t, &k, p, base, r) {
			gaps++
		}
		x := swap{over: p, untold: k}
		if to := (&ranAs{d: &b.doubts}); x.splice(to, base) {
			if spliced++; len(to.list) != len(want.list) || !slices.Equal(to.window(0, to.n), want.window(0, want.n)) {
				t.Fatalf("case %d: code %x, other %x, rounds %+v: spliced %+v, want %+v", n, b.code[:size], other[:size], rounds, to.window(0, to.n), want.window(0, want.n))
			}
		}
		list := apartIn(base, want)
		is, was := got.stretches(), list.stretches()
		told++
		if len(is) > 0 {
			doubtful++
			if slices.ContainsFunc(rounds, func(x round) bool { return x.stop != 0 }) {
				stopped++
			}
			if slices.ContainsFunc(rounds, func(x round) bool { return len(x.outcomes) > 0 }) {
				parted++
			}
		}
		if want.bad || !slices.Equal(was, is) && !ranIn(base.window(0, base.n), is, want.window(0, want.n)) {
			t.Fatalf("case %d: code %x, other %x, rounds %+v: in doubt %v, want %v; the trace contradicts it: %v", n, b.code[:size], other[:size], rounds, is, was, want.bad)
		}
	}
	if doubtful < 500 || stopped < 100 || parted < 100 || gaps < 500 {
		t.Errorf("of %d cases told without decoding %d have doubt, %d with an event, %d with outcomes, %d are sparse: too few", told, doubtful, stopped, parted, gaps)
	}
	t.Logf("%d told without decoding, %d with doubt, %d with an event, %d with outcomes, %d spliced", told, doubtful, stopped, parted, spliced)
}
