package sim

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// seeds is how many machines a test runs.
func seeds(t testing.TB) uint64 {
	return uint64(testsize.Of(t, 100, 500))
}

// digest hashes all that a Run holds.
func digest(r *Run) [32]byte { return sha256.Sum256(fmt.Appendf(nil, "%v", *r)) }

// TestDeterminism would catch a choice that is not drawn from the seed (map
// order, time, shared state).
func TestDeterminism(t *testing.T) {
	for seed := range seeds(t) / 10 {
		a, b := Simulate(Draw(seed)), Simulate(Draw(seed))
		if digest(a) != digest(b) {
			t.Fatalf("seed %d: two runs differ", seed)
		}
	}
	if digest(Simulate(Draw(1))) == digest(Simulate(Draw(2))) {
		t.Fatal("seeds 1 and 2 give the same run")
	}
}

// TestChain would catch a record whose old bytes are not what stood there, a change
// without a record, and an image that is not of its moment. It replays the records
// from the start image: that must give the end image, and each record's old bytes
// must be what it replaces.
func TestChain(t *testing.T) {
	for seed := range seeds(t) {
		r := Simulate(Draw(seed))
		text := bytes.Clone(r.Start[0].Bytes)
		dyn := make([]byte, dynSize)
		var last uint64
		for i, p := range r.Pokes {
			if p.Time <= last || p.Time < p.Begin && p.Scheme != SchemeSlot && p.Scheme != SchemeKprobe || p.End < p.Time {
				t.Fatalf("seed %d: poke %d: times %d begin %d end %d after %d", seed, i, p.Time, p.Begin, p.End, last)
			}
			last = p.Time
			at := dyn[min(p.Addr-dynBase, dynSize):]
			if p.Addr >= textBase && p.Addr < textBase+uint64(len(text)) {
				at = text[p.Addr-textBase:]
			}
			if !bytes.Equal(at[:len(p.Old)], p.Old) {
				t.Fatalf("seed %d: poke %d of %#x: old % x, text % x", seed, i, p.Addr, p.Old, at[:len(p.Old)])
			}
			copy(at, p.New)
		}
		if !bytes.Equal(text, r.End[0].Bytes) {
			t.Fatalf("seed %d: the records do not lead to the end image", seed)
		}
		if r.During == nil || len(r.During[0].Bytes) != len(text) {
			t.Fatalf("seed %d: no whole image from during the run", seed)
		}
	}
}

// TestCuts would catch a stale instruction cache that serves what it may not, and a
// cut that is not where the CPU's fetches changed. At each address that is poked,
// every instruction's bytes must be those of the last poke that its CPU had seen.
// The scheme's rule for the record's time must hold.
func TestCuts(t *testing.T) {
	visits, stale := 0, 0
	for seed := range seeds(t) {
		r := Simulate(Draw(seed))
		near := map[uint64][]*Poke{} // by instruction address
		for cpu := range r.CPUs {
			for k, in := range r.CPUs[cpu].Insns {
				pokes, ok := near[in.IP]
				if !ok {
					pokes = around(r, in.IP)
					near[in.IP] = pokes
				}
				if len(pokes) == 0 {
					continue
				}
				visits++
				want := make([]byte, 15)
				copy(want, r.Start[0].Bytes[in.IP-textBase:])
				for _, p := range pokes {
					if p.Seen[cpu].New <= k {
						overlay(want, in.IP, p)
						if p.Addr != in.IP {
							continue
						}
					} else if p.Addr != in.IP {
						continue
					} else if in.Time > p.End {
						t.Fatalf("seed %d: CPU %d: instruction %d at %#x: old text after the poke's end", seed, cpu, k, in.IP)
					} else if in.Time > p.Begin {
						stale++
					}
					if err := ruleBroken(p, cpu, k, in.Time); err != "" {
						t.Fatalf("seed %d: CPU %d: instruction %d at %#x: %s", seed, cpu, k, in.IP, err)
					}
				}
				if got := r.Codes[in.Code].Fetched(); !bytes.HasPrefix(want, got) {
					t.Fatalf("seed %d: CPU %d: instruction %d at %#x: fetched % x, text % x", seed, cpu, k, in.IP, got, want)
				}
			}
		}
	}
	if visits < 1000 || stale < 20 {
		t.Fatalf("%d visits, %d of old text in a window: too few to tell", visits, stale)
	}
	t.Logf("%d visits of poked sites, %d of old text in a window", visits, stale)
}

// TestSlots would catch a slot or trampoline that is executed before its
// record, after it is gone, or with bytes that are not its record's.
func TestSlots(t *testing.T) {
	n := 0
	for seed := range seeds(t) {
		c := Draw(seed)
		if seed%2 == 0 { // probes that come and go as fast as they can
			c.Work, c.PokeGap, c.Window, c.CPUs, c.Funcs = WorkKprobe, 20, 10, 3, 8
		}
		r := Simulate(c)
		for cpu := range r.CPUs {
			for k, in := range r.CPUs[cpu].Insns {
				if in.IP-dynBase >= dynSize {
					continue
				}
				n++
				var life *Poke // the last record of the address so far
				for i := range r.Pokes {
					p := &r.Pokes[i]
					if p.Time <= in.Time && p.Addr <= in.IP && in.IP < p.Addr+uint64(max(len(p.Old), len(p.New))) {
						life = p
					}
				}
				if life == nil || len(life.New) == 0 {
					t.Fatalf("seed %d: CPU %d: instruction %d at %#x: no code there at %d", seed, cpu, k, in.IP, in.Time)
				}
				if got := r.Codes[in.Code].Fetched(); !bytes.HasPrefix(life.New[in.IP-life.Addr:], got) {
					t.Fatalf("seed %d: CPU %d: instruction %d at %#x: fetched % x, recorded % x", seed, cpu, k, in.IP, got, life.New)
				}
			}
		}
	}
	if n < 1000 {
		t.Fatalf("%d instructions in slots: too few to tell", n)
	}
}

// around returns the pokes, slots apart, that touch 15 bytes from ip on.
func around(r *Run, ip uint64) (out []*Poke) {
	for i := range r.Pokes {
		p := &r.Pokes[i]
		if p.Scheme != SchemeSlot && p.Addr < ip+15 && ip < p.Addr+uint64(len(p.New)) {
			out = append(out, p)
		}
	}
	return out
}

// overlay writes p's new bytes over text, which lies at ip.
func overlay(text []byte, ip uint64, p *Poke) {
	for i, b := range p.New {
		if off := p.Addr + uint64(i) - ip; off < uint64(len(text)) {
			text[off] = b
		}
	}
}

// ruleBroken says how an instruction breaks its poke's scheme, "" if it does not.
func ruleBroken(p *Poke, cpu, k int, time uint64) string {
	isNew := p.Seen[cpu].New <= k
	switch p.Scheme {
	case SchemeBP, SchemeXMC:
		if isNew && time < p.Time {
			return "new text before the record"
		}
		if !isNew && time > p.Time {
			return "old text after the record"
		}
	case SchemeKprobe:
		armed := p.New[0] == 0xcc
		if armed && time > p.Time && !isNew {
			return "old text after the kprobe was armed"
		}
		if !armed && time < p.Time && isNew {
			return "new text before the kprobe was disarmed"
		}
	}
	return ""
}

// TestTraps would catch a breakpoint taken outside its poke's window, and a
// count of what had retired that is off.
func TestTraps(t *testing.T) {
	kinds := map[TrapKind]int{}
	for seed := range seeds(t) {
		r := Simulate(Draw(seed))
		for i, tr := range r.Traps {
			kinds[tr.Kind]++
			insns := r.CPUs[tr.CPU].Insns
			if tr.Index < len(insns) && insns[tr.Index].Time < tr.Time || tr.Index > 0 && insns[tr.Index-1].Time > tr.Time {
				t.Fatalf("seed %d: trap %d: index %d does not fit time %d", seed, i, tr.Index, tr.Time)
			}
			if tr.Index < len(insns) && insns[tr.Index].IP != symbol(r, "asm_exc_int3") && insns[tr.Index].IP != symbol(r, "asm_exc_nmi") {
				t.Fatalf("seed %d: trap %d: %#x follows it", seed, i, insns[tr.Index].IP)
			}
			if tr.Kind != TrapWindow {
				continue
			}
			p := &r.Pokes[tr.Poke]
			if p.Addr != tr.IP || tr.Time < p.Begin || tr.Time > p.End {
				t.Fatalf("seed %d: trap %d at %#x, time %d: not in the window of poke %+v", seed, i, tr.IP, tr.Time, *p)
			}
		}
	}
	t.Logf("traps by kind: %v", kinds)
	if kinds[TrapWindow] < 100 {
		t.Fatalf("traps by kind: %v: too few to tell", kinds)
	}
}

func symbol(r *Run, name string) uint64 {
	for _, s := range r.Symbols {
		if s.Name == name {
			return s.Addr
		}
	}
	return 0
}

// TestLacking would catch a record that is lost and not told of, and one that is
// there though it was not made. It would catch a timestamp that is further off than
// asked for, and code that is loaded without a symbol record.
func TestLacking(t *testing.T) {
	fates := map[Fate]int{}
	off := 0
	for seed := range seeds(t) / 5 {
		c := Draw(seed)
		c.Unrecorded, c.LoseRecord, c.ClockError = 10, 10, 500
		c.Work |= WorkLoad
		r := Simulate(c)
		told, lost := 0, 0
		for _, l := range r.Losses {
			told += l.N
		}
		for i, p := range r.Pokes {
			fates[p.Fate]++
			if p.Fate == FateLost {
				lost++
				if !slices.ContainsFunc(r.Losses, func(l Loss) bool {
					return l.CPU == p.CPU && l.From <= p.Time+500 && p.Time <= l.Time+500
				}) {
					t.Fatalf("seed %d: no loss covers the record of poke %d", seed, i)
				}
			}
			if p.Stamp != p.Time {
				off++
			}
			if d := int64(p.Stamp - p.Time); p.Fate == FateRecorded && (d > 1000 || d < -500) {
				t.Fatalf("seed %d: poke %d: timestamp %d ticks off", seed, i, d)
			}
			if p.Fate == FateNone && len(p.Old) == 0 && c.Work&(WorkXMC|WorkKprobe|WorkOptprobe|WorkFtrace) == 0 &&
				!slices.ContainsFunc(r.Ksyms, func(k Ksym) bool { return k.Addr == p.Addr && k.Time >= p.Time }) {
				t.Fatalf("seed %d: poke %d: code at %#x has no name", seed, i, p.Addr)
			}
		}
		if told != lost {
			t.Fatalf("seed %d: %d records lost, %d told", seed, lost, told)
		}
		records, number := r.Records()
		for i, k := range records {
			if p := r.Pokes[number[i]]; p.Fate != FateRecorded || k.Addr != p.Addr || i > 0 && k.Time < records[i-1].Time {
				t.Fatalf("seed %d: record %d: %+v of poke %+v", seed, i, k, p)
			}
		}
	}
	if fates[FateNone] < 10 || fates[FateLost] < 10 || off == 0 {
		t.Fatalf("fates %v, %d timestamps off: too few to tell", fates, off)
	}
}

// TestDrawCovers would catch a setting that no drawn Config has.
func TestDrawCovers(t *testing.T) {
	drawCovers(t, Draw, "RetStack", "Stamps", "Tx", "Threads")
	drawCovers(t, DrawThreads, "RetStack", "Stamps", "Tx")
	drawCovers(t, func(seed uint64) Config { return DrawA64(seed).WithETM() }, "Stale", "MTCFreq", "NoRetComp", "NoDefer", "LongTNT", "User", "OffAtPSB", "NMI", "Threads")
	drawCovers(t, DrawA32, "Tx", "Threads", "Stale", "MTCFreq", "NoRetComp", "NoDefer", "LongTNT", "User", "OffAtPSB", "NMI")
}

// drawCovers does it for what draw draws; the settings named it does not use.
func drawCovers(t *testing.T, draw func(uint64) Config, unused ...string) {
	unused = append(unused, "Insns", "Unrecorded", "LoseRecord", "ClockError")
	seen := map[string]map[any]bool{}
	for seed := range uint64(500) {
		v := reflect.ValueOf(draw(seed))
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if !v.Type().Field(i).IsExported() { // set by what simulates, not drawn
				continue
			}
			if seen[name] == nil {
				seen[name] = map[any]bool{}
			}
			seen[name][v.Field(i).Interface()] = true
		}
	}
	for name, values := range seen {
		if len(values) < 2 && !slices.Contains(unused, name) {
			t.Errorf("%s is always %v", name, values)
		}
	}
}

// BenchmarkSimulate measures instructions simulated; the target is 1 M/s.
func BenchmarkSimulate(b *testing.B) {
	n := 0
	for i := 0; b.Loop(); i++ {
		r := Simulate(Draw(uint64(i)))
		for c := range r.CPUs {
			n += len(r.CPUs[c].Insns)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Minsn/s")
}
