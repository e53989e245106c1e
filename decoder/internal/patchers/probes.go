package patchers

import (
	"encoding/binary"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
)

// maxUnsaid is the longest change without its bytes that one poke stands for; a
// longer one takes several.
const maxUnsaid = 0xf000

// probed takes the sample of a probe event. Its arguments have the names that
// docs/recording.md gives them.
func (x *Patches) probed(rec *perfdata.Record, m *perfdata.Sample, by runner) error {
	f := x.r.Format(rec.Attr.Config)
	what := x.probe(f, m.Raw)
	if what == patchNone {
		return nil
	}
	x.seen[ByProbe+x.nameOf(what)] = true
	arg := func(names ...string) uint64 {
		v, _ := f.Int(m.Raw, names...)
		return v
	}
	switch what {
	case patchKick:
		x.finished(by, rec.Time, func(*change) bool { return true })
	case patchKicked:
		x.kicked(by, rec.Time)
	case patchJumped, patchPoked, patchStopped:
		x.finished(by, rec.Time, func(*change) bool { return true })
	case patchJump:
		if !f.Has("code") || !f.Has("target") || !f.Has("type") || !f.Has("entry") && !f.Has("site") {
			x.unread++
			return nil
		}
		entry := arg("entry", "site")
		return x.write(x.changeAt(rec, entry+arg("code"), jumpLabel(entry+arg("code"), entry+4+arg("target"), arg("type") != 0)))
	case patchStop:
		if !x.within(arg("fn"), insnPatchStop) {
			return nil // it is another's
		}
		if cnt, ok := f.Int(m.Raw, "cnt"); !f.Has("addr") || !f.Has("insn") || ok && cnt != 1 {
			x.unread++
			return nil
		}
		c := x.changeAt(rec, arg("addr"), binary.LittleEndian.AppendUint32(nil, uint32(arg("insn"))))
		c.e.Under = "stop_machine"
		return x.write(c)
	case patchFixmap:
		if f.Has("idx") && f.Has("phys") {
			return x.mapping(rec, arg("idx"), arg("phys"))
		}
		x.unread++
	case patchPoke:
		n := arg("len")
		if code := binary.LittleEndian.AppendUint64(nil, arg("new")); f.Has("addr") && f.Has("new") && 0 < n && n <= 8 {
			c := x.changeAt(rec, arg("addr"), code[:n])
			if c.e.Scheme = "bp"; n == 1 {
				c.e.Scheme = "kprobe"
			}
			return x.write(c)
		}
		x.unread++
	}
	return nil
}

// jumpLabel is what a jump label's site becomes: B, or NOP
// (arch/arm64/kernel/jump_label.c, v6.12; DDI0487, "B", "NOP").
func jumpLabel(site, target uint64, jumps bool) []byte {
	word := uint32(0xd503201f)
	if jumps {
		word = 0x14000000 | uint32(target-site)>>2&(1<<26-1)
	}
	return binary.LittleEndian.AppendUint32(nil, word)
}

// mapping takes a page that is mapped, or unmapped: physical address 0. The kernel
// maps each word that it writes at one index. A mapping between a change and its end
// shows that index, and how far the kernel's code lies from its physical addresses.
func (x *Patches) mapping(rec *perfdata.Record, index, phys uint64) error {
	if phys == 0 || x.fix.known && index != x.fix.index {
		return nil
	}
	for i := len(x.open) - 1; i >= 0; i-- {
		c := x.open[i]
		if addr := uint64(c.e.Addr); !c.mapped && c.done == 0 && addr&0xfff == phys&0xfff {
			c.mapped = true
			if !x.fix.known && x.inKernel(addr) {
				x.fix = fixmap{true, index, addr - phys}
			}
			return nil
		}
	}
	if !x.fix.known {
		return nil
	}
	if addr := phys + x.fix.delta; x.inKernel(addr) {
		return x.write(x.changeUnsaid(rec, addr, 4))
	}
	return nil
}

// kernelReach is how far the kernel's code reaches behind its beginning at most, bytes:
// a B reaches no farther.
const kernelReach = 128 << 20

// inKernel reports whether an address lies in the kernel's own code, which is
// contiguous in physical memory.
func (x *Patches) inKernel(addr uint64) bool {
	from, ok := x.syms.Find("_text")
	if !ok || addr < from.Addr || addr-from.Addr >= kernelReach {
		return false
	}
	y, _, ok := x.syms.Lookup(addr, 0)
	return ok && y.Module == "" && y.Code
}

// changeUnsaid returns a change of which a sample says neither text.
func (x *Patches) changeUnsaid(rec *perfdata.Record, addr, n uint64) *change {
	c := x.changeAt(rec, addr, nil)
	c.e.Len, c.e.Scheme = n, "unsafe"
	return c
}

// unsaid takes a copy of code, of which the registers say no bytes, or a fill.
func (x *Patches) unsaid(rec *perfdata.Record, m *perfdata.Sample, what patcher) error {
	addr, _ := m.IntrReg(rec.Attr, regX0)
	word, _ := m.IntrReg(rec.Attr, regX1)
	n, ok := m.IntrReg(rec.Attr, regX2)
	if !ok || n > 1<<24 {
		return nil
	}
	for n > 0 {
		k := min(n, maxUnsaid)
		c := x.changeUnsaid(rec, addr, k)
		if what == patchSet {
			c.e.Len, c.e.New = 0, make(sideband.HexBytes, 0, k)
			for uint64(len(c.e.New))+4 <= k {
				c.e.New = binary.LittleEndian.AppendUint32(c.e.New, uint32(word))
			}
		}
		if k >= 4 || what == patchCopy {
			if err := x.write(c); err != nil {
				return err
			}
		}
		addr, n = addr+k, n-k
	}
	return nil
}

// missed takes the maintenance of caches behind a word of which no sample told: the sample
// was lost, or came before the events recorded. What was written is not known. An
// interrupt before the maintenance makes its sample come again, maybe behind the change.
// The word was stored behind what the thread was sampled at before, or a while ago.
func (x *Patches) missed(rec *perfdata.Record, from, to, lr, before uint64) error {
	writes := x.seen[ByBreakpoint+x.nameOf(patchWrite)]
	if slices.ContainsFunc(x.open, func(c *change) bool { return c.done == 0 && uint64(c.e.Addr) == from }) {
		return nil // another thread's
	}
	if !writes || to-from != 4 || x.newest[runnerOf(rec)] == from || !x.within(lr, insnPatch) && !x.within(lr, insnPatchStop) {
		return nil
	}
	c := x.changeUnsaid(rec, from, to-from)
	if err := x.write(c); err != nil {
		return err
	}
	c.caches, c.begin = rec.Time, max(before, rec.Time-min(rec.Time, patience))
	return nil
}
