package rows

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// kernelFlow is a machine whose kernel has symbols, some of them for a while only, and
// random flow of its CPUs.
type kernelFlow struct {
	namesOnly
	rand   *rand.Rand
	blocks []*flow.Block
}

// kernelNames are functions of the machine, 0x100 bytes each: plain ones, thunks,
// trampolines, and what takes another thread's stack.
var kernelNames = []string{"alpha", "beta", "gamma", "delta", "__x86_indirect_thunk_rax", "its_return_thunk", "ftrace_caller", "bpf_trampoline_1", "__switch_to", "epsilon", "zeta"}

const kernelBase = 1 << 40

func newKernelFlow(seed uint64) *kernelFlow {
	k := &kernelFlow{rand: rand.New(rand.NewPCG(seed, 7))}
	var text []byte
	for i, name := range kernelNames {
		text = fmt.Appendf(text, "%016x T %s\n", kernelBase+i*0x100, name)
	}
	kallsyms, err := symbols.ParseKallsyms(string(text), "kallsyms")
	if err != nil {
		panic(err)
	}
	jit := []symbols.Ksymbol{{Name: "bpf_prog", Addr: kernelBase + 0x10000, Len: 0x100, From: 50, Until: 300}}
	k.of = symbols.New(kallsyms, nil, jit)
	classes := []isa.Class{isa.Cond, isa.Cond, isa.Call, isa.Call, isa.CallInd, isa.Jump, isa.JumpInd, isa.Return, isa.Return, isa.Return, isa.Other}
	if seed%3 == 0 {
		classes = append(classes, isa.Syscall, isa.FarReturn, isa.SoftInt)
	}
	for range 60 {
		b := &flow.Block{Addr: k.place(), N: 1, Lens: []uint8{5}, Class: classes[k.rand.IntN(len(classes))], Mode: isa.Mode64, Span: event.EveryEpoch}
		if b.End = b.Addr + 5; b.Class == isa.Cond || b.Class == isa.Call || b.Class == isa.Jump {
			b.Target = k.place()
		}
		k.blocks = append(k.blocks, b)
	}
	return k
}

// place returns an address in the machine's code, often a function's first.
func (k *kernelFlow) place() uint64 {
	a := kernelBase + uint64(k.rand.IntN(len(kernelNames)))*0x100
	switch k.rand.IntN(12) {
	case 0:
		return 0x400000 + uint64(k.rand.IntN(4))*16 // a program's
	case 1:
		a = kernelBase + 0x10000
	}
	if k.rand.IntN(2) == 0 {
		a += uint64(k.rand.IntN(16)) * 5
	}
	return a
}

// Running changes the thread each 100 ns.
func (k *kernelFlow) Running(stream int, time uint64) (int32, string, uint64, bool) {
	return int32(time/100)*2 + int32(stream) + 1, "some", time/100*100 + 100, true
}

func (k *kernelFlow) NextRunning(stream int, after uint64, tid int32) (uint64, int32, bool) {
	t := after/100*100 + 100
	next, _, _, _ := k.Running(stream, t)
	return t, next, true
}

func (k *kernelFlow) Code([]byte, uint32, uint64, event.Epoch) int { return 0 }

// batches returns the flow of two CPUs, cut at random as a merger does: most batches say
// where the flow goes on, where no note lies between.
func (k *kernelFlow) batches() (list []*flow.Batch) {
	r := k.rand
	var last [2]*flow.Batch
	now := uint64(1)
	for range 10 + r.IntN(60) {
		st := r.IntN(2)
		b := &flow.Batch{Stream: st}
		for range 1 + r.IntN(10) {
			if now += uint64(r.IntN(4)); len(b.Stamps) == 0 || r.IntN(3) == 0 {
				b.Stamps = append(b.Stamps, flow.Stamp{Time: event.Time{Lo: now, Hi: now}})
			}
			switch r.IntN(20) {
			case 0:
				b.Notes = append(b.Notes, k.note(len(b.Ranges), now))
			default:
				x := flow.Range{Block: k.blocks[r.IntN(len(k.blocks))], Stamp: uint32(len(b.Stamps) - 1), N: 1}
				if r.IntN(30) == 0 {
					x.Verdict = flow.Ambiguous
				}
				b.Ranges = append(b.Ranges, x)
			}
		}
		if p := last[st]; p != nil && !noted(p, len(p.Ranges)) && !noted(b, 0) && r.IntN(4) > 0 {
			p.Onward = b.Ranges[0].Block
		}
		last[st] = b
		list = append(list, b)
	}
	return list
}

// noted reports whether a note of b lies before range i, or b has no range.
func noted(b *flow.Batch, i int) bool {
	return len(b.Ranges) == 0 || slices.ContainsFunc(b.Notes, func(n flow.Note) bool { return n.At == i })
}

// note returns what lies between ranges.
func (k *kernelFlow) note(at int, now uint64) flow.Note {
	n := flow.Note{At: at, Kind: flow.NoteEvent, Poke: -1, Event: event.Event{Kind: event.Async, Flags: event.FlagIP, From: k.place(), IP: k.place(), Time: event.Time{Lo: now, Hi: now}}}
	switch k.rand.IntN(5) {
	case 0:
		n.Kind = flow.NoteTrackOn
		n.Event.Kind = event.Enable
	case 1:
		n.Kind = flow.NoteTrackOff
		n.Event.Kind = event.Disable
	case 2:
		n.Kind = flow.NoteTrap
	case 3:
		n = flow.Note{At: at, Kind: flow.NoteGap, Poke: -1, Gap: event.Gap{Time: event.Time{Lo: now, Hi: now}}}
	}
	return n
}

// listed returns the rows of batches. Where plain is not set, only is a filter that all
// pass.
func (k *kernelFlow) listed(batches []*flow.Batch, o Options, plain bool) (list []string, count Count) {
	streams := []Stream{{Name: "cpu0"}, {Index: 1, Name: "cpu1", CPU: 1}}
	names := NewNames(k, 2)
	take := func(r *Row) error {
		c := *r
		c.Note, c.Number, c.Stream = nil, 0, nil
		list = append(list, fmt.Sprintf("%s %+v", r.Stream.Name, c))
		return nil
	}
	if plain {
		o.Plain = func(st *Stream, b *flow.Batch, n int) error {
			for i := range n {
				names.Rows(o.Level, st, b, i, func(r *Row) { take(r) })
			}
			return nil
		}
		o.Calls = func(st *Stream, r *Row, t event.Time, v flow.Verdict, depth int) error {
			c := *r
			c.Stream, c.Time, c.Verdict, c.Depth = st, t, v, depth
			return take(&c)
		}
	} else {
		o.Where = func(*Names, *Row) bool { return true }
	}
	m := New(k, streams, nil, o, take)
	for _, b := range batches {
		if !plain {
			c := *b
			c.Onward = nil
			b = &c
		}
		if err := m.Flow(b); err != nil {
			panic(err)
		}
	}
	if err := m.Close(); err != nil {
		panic(err)
	}
	return list, m.Count
}

// TestPlainRows would catch a call or a branch that is lost, told twice, or out of its order.
// It would also catch one at another depth, or of another thread. Stretches of flow are told
// without rows, steps of the tree are kept, and a batch says where its flow goes on. Rows, made
// one by one, are the slow twin.
func TestPlainRows(t *testing.T) {
	for seed := range uint64(testsize.Of(t, 60, 2000)) {
		k := newKernelFlow(seed)
		batches := k.batches()
		for _, o := range []Options{{Level: LevelCall}, {Level: LevelCall, Thunks: true}, {Level: LevelCall, RawTraps: true, Gaps: true}, {Level: LevelBranch}, {Level: LevelBlock}} {
			want, wantCount := k.listed(batches, o, false)
			got, count := k.listed(batches, o, true)
			if i := firstOther(got, want); i >= 0 {
				t.Fatalf("seed %d, %v, thunks %v, raw traps %v: row %d of %d\n got %s\nwant %s", seed, o.Level, o.Thunks, o.RawTraps, i, len(want), at(got, i), at(want, i))
			}
			if count != wantCount {
				t.Fatalf("seed %d, %v: counts %+v, want %+v", seed, o.Level, count, wantCount)
			}
		}
	}
}

// firstOther returns where two lists differ first, -1 where they do not.
func firstOther(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if at(a, i) != at(b, i) {
			return i
		}
	}
	return -1
}

// at returns entry i of a list, "" behind its end.
func at(list []string, i int) string {
	if i >= len(list) {
		return ""
	}
	return list[i]
}
