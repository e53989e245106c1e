package decoder

import (
	"hash/fnv"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
)

// bruteRules are the pieces of evidence that brute force may be told to leave
// alone, to learn which of them settled a question.
type bruteRules struct {
	looseDates bool // new text does not show that its poke's time has passed
	looseOrder bool // a poke seen does not show that earlier batches are complete
	looseTraps bool // any breakpoint's exception can be anybody's
}

// bruteSeen is what one CPU's flow has shown of the pokes so far.
type bruteSeen struct {
	time   uint64      // not before, ns
	below  int         // every guarded poke below is complete
	synced uint64      // it synchronised then or later, ns
	phases []brutePoke // by poke, ascending
}

// brutePoke is how far a poke is known to have come.
type brutePoke struct {
	poke int
	done bool // its new text has run; else its breakpoint was met: the old text is over
}

// phase returns how far poke p is known to have come.
func (k *bruteSeen) phase(p int) (begun, done bool) {
	for _, x := range k.phases {
		if x.poke == p {
			return true, x.done
		}
	}
	return false, false
}

// note records that p has come so far.
func (k *bruteSeen) note(p int, done bool) {
	_, was := k.phase(p)
	ph := slices.DeleteFunc(slices.Clone(k.phases), func(x brutePoke) bool { return x.poke == p })
	at := 0
	for at < len(ph) && ph[at].poke < p {
		at++
	}
	k.phases = slices.Insert(ph, at, brutePoke{p, done || was})
}

// bruteText answers which text a CPU may have fetched, poke by poke.
type bruteText struct {
	text  *kcore.Text
	rules bruteRules
	sites map[brutePlace]*bruteSite
	near  map[uint64][]int // pokes by the lines of 16 bytes that they touch, ascending
	first []int            // by poke: the first of its batch
	prior []uint64         // by poke: the latest End of the guarded pokes of earlier batches, ns
	next  []uint64         // by poke: the earliest End of the guarded pokes of later batches, ns
}

func newBruteText(t *kcore.Text) *bruteText {
	n := t.Len()
	b := &bruteText{text: t, sites: map[brutePlace]*bruteSite{}, near: map[uint64][]int{}, first: make([]int, n), prior: make([]uint64, n), next: make([]uint64, n)}
	batch := map[int]int{}
	for i := range n {
		p := t.Poke(i)
		if _, have := batch[p.Batch]; !have {
			batch[p.Batch] = i
		}
		b.first[i] = batch[p.Batch]
		size := uint64(max(len(p.Old), len(p.New)))
		for l := p.Addr >> 4; l <= (p.Addr+size-1)>>4; l++ {
			b.near[l] = append(b.near[l], i)
		}
	}
	for i := range n {
		b.next[i] = math.MaxUint64
		for k := range n {
			q := t.Poke(k)
			switch {
			case !q.Scheme.Guarded() || q.Batch == t.Poke(i).Batch:
			case k < i && q.End <= t.Poke(i).Begin: // else both are of one stop_machine
				b.prior[i] = max(b.prior[i], q.End)
			case k < i:
				b.prior[i] = max(b.prior[i], q.Begin)
			default:
				b.next[i] = min(b.next[i], q.End)
			}
		}
	}
	return b
}

// chain returns the pokes that touch the n bytes at addr, in their order.
func (b *bruteText) chain(addr uint64, n int) (out []int) {
	for l := addr >> 4; l <= (addr+uint64(n)-1)>>4; l++ {
		for _, i := range b.near[l] {
			p := b.text.Poke(i)
			if p.Addr < addr+uint64(n) && addr < p.Addr+uint64(max(len(p.Old), len(p.New))) && !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	return out
}

// decode reads the instruction at addr when the first j pokes of chain are in
// effect.
func (b *bruteText) decode(dec isa.Decoder, addr uint64, m isa.Mode, chain []int, j int) (in isa.Insn, ok bool) {
	var buf [16]byte
	have, _ := b.text.Fetch(buf[:dec.MaxLen()], addr, b.epoch(chain, j))
	ok = have > 0 && dec.Decode(&in, buf[:have], addr, m) == isa.OK
	return in, ok
}

// epoch returns one in which the first j pokes of chain are in effect.
func (b *bruteText) epoch(chain []int, j int) event.Epoch {
	switch {
	case j > 0:
		return event.Epoch(chain[j-1]) + 1
	case len(chain) == 0:
		return event.Epoch(b.text.Len())
	}
	return 0
}

// shown is id of what the decoder gives as x.
func (b *bruteText) shown(dec isa.Decoder, x *step) uint64 {
	if !x.poked {
		return x.ip
	}
	var buf [16]byte
	var in isa.Insn
	have, _ := b.text.Fetch(buf[:dec.MaxLen()], x.ip, x.at)
	dec.Decode(&in, buf[:have], x.ip, x.mode)
	return b.id(x.ip, buf[:in.Len])
}

// bruteVersion is one text that may have been executed, and what that shows.
type bruteVersion struct {
	in   isa.Insn
	id   uint64 // see id
	seen bruteSeen
}

// id tells instructions apart: by address, and where text is poked by bytes too.
func (b *bruteText) id(addr uint64, code []byte) uint64 {
	if len(b.chain(addr, len(code))) == 0 {
		return addr
	}
	h := fnv.New64a()
	h.Write(code)
	return addr ^ h.Sum64()
}

// idAt is id of the instruction at addr, n bytes long, as of an epoch.
func (b *bruteText) idAt(addr uint64, n int, at event.Epoch) uint64 {
	var buf [16]byte
	n, _ = b.text.Fetch(buf[:n], addr, at)
	return b.id(addr, buf[:n])
}

// bruteSite is what may stand at an address: for each number of pokes of
// chain in effect, from none to all, what is read then.
type bruteSite struct {
	chain []int
	texts []bruteVersion // without seen
	runs  []bool         // it can be executed without a trap
}

// brutePlace is what decides how text is read.
type brutePlace struct {
	addr uint64
	mode isa.Mode
}

// site reads what may stand at addr. It is read once: no text changes.
func (b *bruteText) site(dec isa.Decoder, addr uint64, m isa.Mode) *bruteSite {
	if s := b.sites[brutePlace{addr, m}]; s != nil {
		return s
	}
	s := &bruteSite{}
	n := 1
	for grown := true; grown; {
		grown = false
		s.chain = b.chain(addr, n)
		for j := 0; j <= len(s.chain); j++ {
			if in, ok := b.decode(dec, addr, m, s.chain, j); ok && int(in.Len) > n {
				n, grown = int(in.Len), true
			}
		}
	}
	for j := 0; j <= len(s.chain); j++ {
		in, ok := b.decode(dec, addr, m, s.chain, j)
		v := bruteVersion{in: in}
		if ok {
			v.id = b.idAt(addr, int(in.Len), b.epoch(s.chain, j))
		}
		s.texts = append(s.texts, v)
		s.runs = append(s.runs, ok && in.Class != isa.Break && !b.inside(dec, addr, m, s.chain, j))
	}
	b.sites[brutePlace{addr, m}] = s
	return s
}

// versions returns what may have been executed at addr not after hi by a CPU
// that has seen so much. contested says that there is more than one text in
// the bounds of the clock alone.
func (b *bruteText) versions(dec isa.Decoder, addr uint64, m isa.Mode, seen *bruteSeen, hi uint64) (out []bruteVersion, contested bool) {
	s := b.site(dec, addr, m)
	if len(s.chain) == 0 {
		if s.runs[0] {
			out = append(out, bruteVersion{s.texts[0].in, s.texts[0].id, *seen})
		}
		return out, false
	}
	bounded := 0
	for j := range s.texts {
		clock := bruteSeen{time: seen.time}
		if b.takes(&clock, s.chain, j, hi) {
			bounded++
		}
		k := *seen
		if s.runs[j] && b.takes(&k, s.chain, j, hi) {
			out = append(out, bruteVersion{s.texts[j].in, s.texts[j].id, k})
		}
	}
	return out, bounded > 1
}

// inside reports whether addr lies inside an instruction that the newest of
// the first j pokes wrote: no patcher lets a CPU stand there.
func (b *bruteText) inside(dec isa.Decoder, addr uint64, m isa.Mode, chain []int, j int) bool {
	if j == 0 || b.text.Poke(chain[j-1]).Addr >= addr {
		return false
	}
	at := b.text.Poke(chain[j-1]).Addr
	in, ok := b.decode(dec, at, m, chain, j)
	return ok && in.Class != isa.Break && at+uint64(in.Len) > addr
}

// takes adds to k what follows if code with the first j pokes of chain in
// effect, and the others not, was executed not after hi. It reports whether
// that can be.
func (b *bruteText) takes(k *bruteSeen, chain []int, j int, hi uint64) bool {
	for i, p := range chain {
		if i < j && !b.new(k, p, hi) || i >= j && !b.old(k, p) {
			return false
		}
	}
	return true
}

// new adds to k that the text which poke p left was executed not after hi.
func (b *bruteText) new(k *bruteSeen, p int, hi uint64) bool {
	x := b.text.Poke(p)
	if x.Begin > hi {
		return false
	}
	if !b.rules.looseDates || !x.Scheme.Guarded() {
		k.time = max(k.time, x.Begin)
	}
	if x.Scheme.Guarded() {
		k.note(p, true)
		b.follows(k, p)
	}
	return k.time <= hi
}

// follows adds to k that p, which is guarded, had begun.
func (b *bruteText) follows(k *bruteSeen, p int) {
	if !b.rules.looseOrder {
		k.below = max(k.below, b.first[p])
		k.time = max(k.time, b.prior[p])
	}
}

// old reports whether the text before poke p may be executed still.
func (b *bruteText) old(k *bruteSeen, p int) bool {
	x := b.text.Poke(p)
	if k.time >= x.End {
		return false
	}
	if !x.Scheme.Guarded() {
		return k.synced == 0 || x.Time > k.synced
	}
	begun, _ := k.phase(p)
	return !begun && p >= k.below
}

// open reports whether poke p, which is guarded, may still be under way, so
// that its breakpoint may be met.
func (b *bruteText) open(k *bruteSeen, p int) bool {
	_, done := k.phase(p)
	return !done && p >= k.below && k.time < b.next[p]
}

// traps returns what a breakpoint's exception at addr, not after hi, may
// show: nothing if there can have been no breakpoint.
func (b *bruteText) traps(dec isa.Decoder, addr uint64, m isa.Mode, seen *bruteSeen, hi uint64) (out []bruteSeen) {
	if b.rules.looseTraps {
		return []bruteSeen{*seen}
	}
	chain := b.chain(addr, 1)
	for j := 0; j <= len(chain); j++ {
		in, ok := b.decode(dec, addr, m, chain, j)
		breaks := ok && in.Class == isa.Break
		if k := *seen; breaks && b.armed(&k, chain, j, hi) {
			out = append(out, k)
		}
		if k := *seen; !breaks && j < len(chain) && b.patching(&k, chain, j, addr, hi) {
			out = append(out, k)
		}
	}
	return out
}

// armed adds to k that the breakpoint is part of the text with the first j
// pokes in effect.
func (b *bruteText) armed(k *bruteSeen, chain []int, j int, hi uint64) bool {
	for i, p := range chain {
		x := b.text.Poke(p)
		switch {
		case i == j-1 && x.Scheme == kcore.SchemeKprobe:
			// The record comes when the breakpoint has long been there.
			k.note(p, false)
			b.follows(k, p)
		case i < j && !b.new(k, p, hi):
			return false
		case i == j && x.Scheme.Guarded():
			if !b.open(k, p) {
				return false
			}
		case i >= j && !b.old(k, p):
			return false
		}
	}
	return k.time <= hi
}

// patching adds to k that the breakpoint is that of the poke after the first
// j, which is under way.
func (b *bruteText) patching(k *bruteSeen, chain []int, j int, addr, hi uint64) bool {
	for i, p := range chain {
		x := b.text.Poke(p)
		switch {
		case i == j:
			if x.Addr != addr || (x.Scheme != kcore.SchemeBP && x.Scheme != kcore.SchemeXMC) {
				return false
			}
			b.follows(k, p)
			if !b.open(k, p) {
				return false
			}
			k.note(p, false)
		case i < j && !b.new(k, p, hi), i > j && !b.old(k, p):
			return false
		}
	}
	return k.time <= hi
}

// settled drops from k what makes no difference any more; traps says that
// breakpoints are met later on.
func (b *bruteText) settled(k *bruteSeen, traps bool) {
	if !traps {
		k.below = 0
	}
	since := uint64(0) // all that matters of synced is which pokes it is behind
	for i := range b.text.Len() {
		if p := b.text.Poke(i); k.synced != 0 && !p.Scheme.Guarded() && p.End > k.time && p.Time <= k.synced {
			since = max(since, p.Time)
		}
	}
	k.synced = since
	var keep []brutePoke
	for _, x := range k.phases {
		if b.text.Poke(x.poke).End > k.time || traps && x.done && (x.poke >= k.below) {
			keep = append(keep, x)
		}
	}
	k.phases = keep
}
