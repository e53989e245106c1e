package sim

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestEncodeA32 would catch a branch that is written to lead elsewhere than it
// is read: of every kind, over the distances that it reaches.
func TestEncodeA32(t *testing.T) {
	r := newRand(1, 1)
	for range 20000 {
		at := 0xc0100000 + r.n(1<<12)<<2
		near := func(n int64, unit uint64) int64 { return int64(r.n(uint64(2*n)/unit)*unit) - n }
		for _, x := range []struct {
			enc      encoder
			from, to uint64
			op       op
		}{
			{jump32(always), at, at + 8 + uint64(near(1<<25, 4)), opJump},
			{jump32(0x10000000), at, at + 8 + uint64(near(1<<25, 4)), opCond},
			{jump32(always), at | 1, at | 1 + 4 + uint64(near(1<<24, 2)), opJump},
			{call32(always), at, at + 8 + uint64(near(1<<25, 4)), opCall},
			{call32(always), at, (at + 8 + uint64(near(1<<25, 2))) | 1, opCall},
			{call32(always), at | 1, (at + 4 + uint64(near(1<<24, 2))) | 1, opCall},
			{call32(always), at | 1, at + 4 + uint64(near(1<<24, 4)), opCall},
			{call32(always), at | 3, at + 4 + uint64(near(1<<24, 4)), opCall},
			{cond32(uint32(r.n(14))), at | 1, at | 1 + 4 + uint64(near(1<<20, 2)), opCond},
			{cond16(uint32(r.n(14))), at | 1, at | 1 + 4 + uint64(near(1<<8, 2)), opCond},
			{jump16, at | 1, at | 1 + 4 + uint64(near(1<<11, 2)), opJump},
			{cbz(t16CBZ | uint32(r.n(8))), at | 1, at | 1 + 4 + r.n(64)*2, opCond},
		} {
			w := x.enc(x.from, x.to)
			in := decodeA32(w, x.from)
			if in.op != x.op || plainAddr(in.target) != plainAddr(x.to) || in.op == opCall && in.target != x.to {
				t.Fatalf("%#x to %#x: %08x is op %d to %#x, want op %d", x.from, x.to, w, in.op, in.target, x.op)
			}
		}
	}
}

// coverA32 counts the situations that runs of A32 and T32 hold.
type coverA32 struct {
	seen map[string]int
}

func (v *coverA32) add(r *Run, d dialectA32) {
	for i := range r.Pokes {
		p := &r.Pokes[i]
		v.seen[p.Scheme.String()]++
		if len(p.Old) == 0 || len(p.New) == 0 {
			continue
		}
		v.patch(p, wordAt(0, append(p.New, 0, 0)), wordAt(0, append(p.Old, 0, 0)))
	}
	_, dyn := d.layout()
	for i := range r.CPUs {
		c := &r.CPUs[i]
		for k, x := range c.Insns {
			b := append(r.Codes[x.Code].Fetched(), 0, 0)
			for _, at := range []uint64{x.IP, x.IP | 1} { // as one or the other
				if at&3 == 2 {
					continue
				}
				if n := uint64(lengthAt(at, wordAt(at, b))); k+1 < len(c.Insns) && c.Insns[k+1].IP == x.IP+n {
					v.seen[map[bool]string{true: "T32", false: "A32"}[thumb(at)]]++
				}
			}
			if x.IP >= dyn && x.IP < dyn+dynSize {
				v.seen["copies and trampolines"]++
			}
		}
		v.packets(c)
	}
}

func (v *coverA32) patch(p *Poke, w, old uint32) {
	a32 := len(p.New) == 4
	switch {
	case a32 && w&0x0fffffff == udfKprobeA32 && w>>28 < 14:
		v.seen["conditional probe"]++
	case a32 && w&0x0fffffff == udfKprobeA32 && old>>24&15 == 10:
		v.seen["no longer optimised"]++
	case a32 && old&0x0fffffff == udfKprobeA32 && w>>24&15 == 10 && w>>28 < 14:
		v.seen["optimised, conditional"]++
	case a32 && old&0x0fffffff == udfKprobeA32 && w>>24&15 == 10:
		v.seen["optimised"]++
	case !a32 && w == udfKprobeT16:
		v.seen["probe of a halfword"]++
	case a32 && w == 0xa018f7f0:
		v.seen["probe of two halfwords"]++
	case !a32 && p.Scheme == SchemeAtomic:
		v.seen["halfword by one store"]++
	}
}

func (v *coverA32) packets(c *CPU) {
	if c.Source.Protocol == coresight.PTM {
		cfg := ptm.Config{Trace: c.Source}
		lx := ptm.NewLexer(cfg.Format(), c.Trace, 0)
		for p := (ptm.Packet{}); lx.Next(&p); {
			v.seen["ptm "+p.Kind.String()]++
		}
		return
	}
	cfg := etmv3.Config{Trace: c.Source}
	lx := etmv3.NewLexer(cfg.Format(), c.Trace, 0)
	for p := (etmv3.Packet{}); lx.Next(&p); {
		v.seen["etmv3 "+p.Kind.String()]++
		if p.Kind == etmv3.Branch && p.HasException() && p.Cancels() {
			v.seen["cancels"]++
		}
	}
}

// TestCoverA32 would catch a machine that leaves out what it is there for.
func TestCoverA32(t *testing.T) {
	testsize.OnlyFull(t)
	v := coverA32{seen: map[string]int{}}
	for seed := range uint64(700) {
		v.add(SimulateA32(DrawA32(seed)), dialectA32{})
	}
	for _, w := range []string{
		"slot", "stop_machine", "atomic", "unsafe", "A32", "T32", "copies and trampolines", "cancels",
		"conditional probe", "optimised", "optimised, conditional", "no longer optimised", "probe of a halfword", "probe of two halfwords", "halfword by one store",
		"ptm A-sync", "ptm I-sync", "ptm Atom", "ptm Branch address", "ptm Waypoint update", "ptm Trigger", "ptm Context ID", "ptm VMID", "ptm Timestamp", "ptm Ignore",
		"etmv3 A-sync", "etmv3 I-sync", "etmv3 I-sync with cycle count", "etmv3 Branch address", "etmv3 P-header", "etmv3 Cycle count", "etmv3 Context ID", "etmv3 VMID", "etmv3 Timestamp",
	} {
		if v.seen[w] < 10 {
			t.Errorf("%s: %d times", w, v.seen[w])
		}
	}
	for _, w := range []string{"ptm BAD", "etmv3 BAD"} {
		if v.seen[w] > 0 {
			t.Errorf("%s: %d times", w, v.seen[w])
		}
	}
	t.Log(v.seen)
}
