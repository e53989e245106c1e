package recording

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// bpfCode is machine code of a BPF program that the recording holds: as it was
// when the recorder asked for it, and not when.
type bpfCode struct {
	Code
	id  uint32
	tag string // of the program, hex; a function of it may have another
}

// bpfPiece is how many bytes of a program one poke brings at most.
const bpfPiece = 1 << 15

// placeBPF puts the code of BPF programs in its place in time. It appears with the
// KSYMBOL record that names it, before the program can run. It goes with the one that
// takes the name away, after the last reference is gone (kernel/bpf/core.c and
// kernel/events/core.c, perf_event_bpf_event, v6.12). What no record names was there
// all the time.
func (f *facts) placeBPF() {
	lives := slices.DeleteFunc(symbols.Ksymbols(f.Ksymbols), func(k symbols.Ksymbol) bool { return !strings.HasPrefix(k.Name, bpfPrefix) })
	for i := range f.bpf {
		c := &f.bpf[i]
		k := f.lifeOf(c, lives)
		if k == nil || k.From == 0 && k.Until == math.MaxUint64 {
			f.Code = append(f.Code, c.Code)
			continue
		}
		f.placeLife(c, k)
	}
}

// bpfPrefix begins the symbols of BPF programs (kernel/bpf/core.c,
// bpf_prog_ksym_set_name, v6.12: the tag follows).
const bpfPrefix = "bpf_prog_"

// lifeOf returns the symbol whose text c is; nil if there is none. Where one
// came after another at an address, the tag tells, or the time at which the
// program was loaded.
func (f *facts) lifeOf(c *bpfCode, lives []symbols.Ksymbol) *symbols.Ksymbol {
	loaded, known := f.loads[c.id]
	var best *symbols.Ksymbol
	var bestTag bool
	var bestFar uint64
	for i := range lives {
		k := &lives[i]
		if c.Addr-k.Addr >= k.Len {
			continue
		}
		tag := c.tag != "" && strings.HasPrefix(k.Name[len(bpfPrefix):], c.tag)
		far := max(k.From, loaded) - min(k.From, loaded)
		if !known {
			far = math.MaxUint64 - k.From // the last: it lived when the recorder asked
		}
		if best == nil || tag && !bestTag || tag == bestTag && far < bestFar {
			best, bestTag, bestFar = k, tag, far
		}
	}
	return best
}

// placeLife adds the pokes that bring c and take it away.
func (f *facts) placeLife(c *bpfCode, k *symbols.Ksymbol) {
	end := c.Addr + uint64(len(c.Bytes))
	var inside []*kcore.Poke // recorded changes to it, in order of time
	for i := range f.Pokes {
		p := &f.Pokes[i]
		if p.Addr >= end || p.Addr+p.Range().Len <= c.Addr || p.Time < k.From || p.Time > k.Until {
			continue
		}
		if len(p.Old) == 0 {
			return // a record brings it itself
		}
		if len(p.Old) == len(p.New) && p.Addr >= c.Addr && p.Addr+uint64(len(p.Old)) <= end {
			inside = append(inside, p)
		}
	}
	slices.SortStableFunc(inside, func(a, b *kcore.Poke) int {
		if a.Time < b.Time {
			return -1
		}
		return 1
	})
	first := bytes.Clone(c.Bytes) // as it appeared: the recorder may have asked later
	for _, p := range slices.Backward(inside) {
		if at := first[p.Addr-c.Addr:][:len(p.New)]; bytes.Equal(at, p.New) {
			copy(at, p.Old)
		}
	}
	last := bytes.Clone(first)
	for _, p := range inside {
		copy(last[p.Addr-c.Addr:], p.New)
	}
	for at := 0; at < len(c.Bytes); at += bpfPiece {
		to := min(at+bpfPiece, len(c.Bytes))
		p := kcore.Poke{Addr: c.Addr + uint64(at), CPU: -1, Scheme: kcore.SchemeSlot}
		if k.From > 0 {
			p.Time, p.New = k.From, first[at:to]
			p.Begin, p.End = p.Time, p.Time
			f.Pokes = append(f.Pokes, p)
		}
		if k.Until != math.MaxUint64 {
			p.Time, p.Old, p.New = k.Until, last[at:to], nil
			p.Begin, p.End = p.Time, p.Time
			f.Pokes = append(f.Pokes, p)
		}
	}
}

// keepText takes text that the recording itself holds.
func (f *facts) keepText(e *sideband.Record) {
	c := Code{uint64(e.Addr), f.kept.Clone(e.Bytes)}
	if e.BPFID == 0 {
		f.Code = append(f.Code, c)
		return
	}
	f.bpf = append(f.bpf, bpfCode{c, e.BPFID, hex.EncodeToString(e.Tag)})
}
