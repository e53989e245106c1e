package decoder

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/guests"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// damagedTruth is what was decoded of machines whose traces are damaged.
type damagedTruth struct {
	shortTally
	trouble []string
}

// spoilRun damages the traces of rs, which are the same ones, at n places. There a byte is another, a few
// are missing, or a few come twice.
func spoilRun(r *rand.Rand, n int, rs ...*sim.Run) (what string) {
	for i := range rs[0].CPUs {
		b := bytes.Clone(*traceOf(&rs[0].CPUs[i]))
		for range n {
			at := r.IntN(len(b))
			if r.IntN(2) == 0 {
				by := byte(1 + r.IntN(255))
				what += fmt.Sprintf(" cpu %d+%#x: %02x -> %02x", i, at, b[at], b[at]^by)
				b[at] ^= by
				continue
			}
			k := min(1+r.IntN(maxMoved), len(b)-at)
			if r.IntN(2) == 0 {
				what += fmt.Sprintf(" cpu %d+%#x: %d bytes are missing", i, at, k)
				b = slices.Delete(b, at, at+k)
				k = -k
			} else {
				what += fmt.Sprintf(" cpu %d+%#x: %d bytes twice", i, at, k)
				b = slices.Insert(b, at, slices.Clone(b[at:at+k])...)
			}
			for _, x := range rs {
				x.CPUs[i].Sent = moved(x.CPUs[i].Sent, int64(at), int64(k))
			}
		}
		for _, x := range rs {
			*traceOf(&x.CPUs[i]) = b
		}
	}
	return what
}

// traceOf is the trace of c: of Intel PT, or of a unit of Arm's.
func traceOf(c *sim.CPU) *[]byte {
	if c.Trace != nil {
		return &c.Trace
	}
	return &c.PT
}

// maxMoved is how many bytes of trace are missing at one place at most, or come twice.
const maxMoved = 64

// moved is list where what was sent from at on lies n bytes further on.
func moved(list []sim.Sent, at, n int64) []sim.Sent {
	list = slices.Clone(list)
	for i := range list {
		if list[i].Off >= at {
			list[i].Off = max(at, list[i].Off+n)
		}
	}
	return list
}

// troubles lists the offsets of what is wrong in the packets of st, which tell of all machines.
func troubles(st *stream.Stream) (list []int64) {
	for e := range stream.Events(st, false) {
		if e.Kind == event.Trouble {
			list = append(list, e.Off)
		}
	}
	return list
}

// crossed reports whether the flow got goes on over one of the places bad, and over which.
func crossed(got []step, bad []int64) (at int64, ok bool) {
	for i := 1; i < len(got); i++ {
		if n := countBetween(bad, 0, got[i].off); n > 0 && got[i].gap == nil && got[i-1].gap == nil && got[i-1].off < bad[n-1] {
			return bad[n-1], true
		}
	}
	return 0, false
}

// judgeDamaged decodes r, whose trace is damaged as what says. Of a trace that tells of two machines it
// decodes that of own.
func (d *damagedTruth) judgeDamaged(t *testing.T, r *sim.Run, own guests.Machine, parts bool, what string) {
	s := simSession(t, r, r.Start)
	var bad [][]int64
	for _, st := range s.Streams() {
		bad = append(bad, troubles(st))
		if parts {
			st.Part = func(d stream.Decoder) stream.Decoder {
				return guests.NewPart(d, own, func(*event.Event, uint64) guests.Machine { return 1 })
			}
		}
	}
	twin := &alikeTwin{codes: r.Codes, code: func(dst []byte, addr uint64, at event.Epoch) int { return s.Code(dst, 0, addr, at) }}
	d.judgeSession(t, r, s, bad, own, what, twin, func(c int) { twin.stated = twin.statedBy(simPackets(r, s.Streams()[c])) })
}

// judgeSession decodes s, which has the damaged trace of r. bad is where its packets are bad, by CPU; begin
// has twin be that of a CPU.
func (d *damagedTruth) judgeSession(t *testing.T, r *sim.Run, s *Session, bad [][]int64, own guests.Machine, what string, twin *alikeTwin, begin func(c int)) {
	got := steps{}
	if err := s.Flow(context.Background(), Query{Jobs: 1}, got); err != nil {
		t.Errorf("seed %d: %v", r.Config.Seed, err)
	}
	w := newWitnesses(r, r.Start, nil)
	w.built = true // nothing excuses a claim but the packets
	d.runs++
	for c := range r.CPUs {
		if at, ok := crossed(got[c], bad[c]); ok {
			d.trouble = append(d.trouble, fmt.Sprintf("seed %d, machine %d, cpu %d: the flow goes on over bad packets at %#x, with no gap\n%s", r.Config.Seed, own, c, at, what))
		}
		d.insns += len(r.CPUs[c].Insns)
		begin(c)
		if msg := d.judge(w, twin, got[c], c); msg != "" {
			d.trouble = append(d.trouble, fmt.Sprintf("seed %d, machine %d, cpu %d (%v, work %b): %s\n%s", r.Config.Seed, own, c, r.Config.Timing, r.Config.Work, msg, what))
		}
	}
}

// TestTruthDamaged would catch claims of what never ran where bytes of a trace are others than were sent,
// though the packets as they are speak against them. It would catch a stretch left out in silence. Half of the
// machines are a hypervisor and its virtual machine, which one trace tells of.
func TestTruthDamaged(t *testing.T) {
	first, n := seeds(t, 4, 60, 100)
	kept := keptRuns(t, []uint64{233, 73, 265, 6387, 6440, 6690, 7457, 7466, 7503, 8258, 9021})
	parts := make([]damagedTruth, runtime.GOMAXPROCS(0))
	eachSeed(0, n+uint64(len(kept)), func(i int, k uint64) {
		seed := first + k
		if k >= n {
			seed = kept[k-n]
		}
		parts[i].decode(t, seed)
	})
	var all damagedTruth
	for i := range parts {
		all.add(&parts[i].shortTally)
		all.trouble = append(all.trouble, parts[i].trouble...)
	}
	slices.Sort(all.trouble)
	for _, x := range all.trouble {
		t.Error(x)
	}
	t.Log(&all)
}

// String is what was counted.
func (d *damagedTruth) String() string {
	return fmt.Sprintf("%d machines: %d instructions, %d claims, %d ambiguous, %d gaps, settled %s %%; %d wrong, and %d that the packets state",
		d.runs, d.insns, d.claims, d.ambiguous, d.gaps, share(d.settled, d.insns), d.wrong[byNobody], d.alike)
}

// decode judges the machine of a seed, or both.
func (d *damagedTruth) decode(t *testing.T, seed uint64) {
	r, host := rand.New(rand.NewPCG(seed, 77)), drawn(seed)
	if seed%2 == 0 {
		x := sim.Simulate(host)
		d.judgeDamaged(t, x, guests.Host, false, spoilRun(r, 1+r.IntN(3), x))
		return
	}
	guest := drawn(seed + 1000)
	guest.Timing, guest.MTCFreq, guest.NoRetComp, guest.NoDefer, guest.OVF = host.Timing, host.MTCFreq, host.NoRetComp, host.NoDefer, host.OVF
	h, g := sim.SimulateGuest(host, guest)
	what := spoilRun(r, 1+r.IntN(3), h, g)
	d.judgeDamaged(t, h, guests.Host, true, what)
	d.judgeDamaged(t, g, 1, true, what)
}
