package decoder

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/guests"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/simrec"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
)

// TestGuestTruth would catch an instruction claimed of a hypervisor or of its virtual
// machine that the one did not execute, and much that is not followed. Each is told by
// one trace, and decoded with its own code and changes.
func TestGuestTruth(t *testing.T) {
	first, n := seeds(t, 3, 8)
	var all [2]scores
	for seed := first; seed < first+n; seed++ {
		host, guest := drawn(seed), drawn(seed+1000)
		guest.Timing, guest.MTCFreq, guest.NoRetComp, guest.OVF = host.Timing, host.MTCFreq, host.NoRetComp, host.OVF
		h, g := sim.SimulateGuest(host, guest)
		for i, r := range []*sim.Run{h, g} {
			s := simSession(t, r, r.Start)
			for _, st := range s.Streams() {
				st.Part = func(d stream.Decoder) stream.Decoder {
					return guests.NewPart(d, guests.Machine(i), func(*event.Event, uint64) guests.Machine { return 1 })
				}
			}
			got := decodeWith(t, r, s, Query{Jobs: 1})
			anywhere(got)
			all[i].compare(r, got, s.code.Load().text)
		}
	}
	for i, who := range []string{"host", "guest"} {
		for _, m := range all[i].trouble[:min(len(all[i].trouble), 8)] {
			t.Errorf("%s: %s", who, m)
		}
		t.Logf("%s\n%s", who, all[i].table())
	}
}

// anywhere has the flow go on behind an overflow where it may: not where the CPU was, but
// where the trace says again which machine it is in.
func anywhere(got steps) {
	for _, list := range got {
		for i := range list {
			if g := list[i].gap; g != nil {
				g.Reason = event.NoText
			}
		}
	}
}

// guestDir writes the recording of a virtual machine as perf record --kcore makes it in
// there, with the times of a clock that is behind by offset, ns.
func guestDir(t *testing.T, g *sim.Run, offset uint64) string {
	t.Helper()
	w := &perfWriter{}
	w.event(1, 9, 0, 1) // a dummy
	copy(w.attrs[0][40:], bin(uint64(1<<18|1<<33)))
	list, _ := g.Records()
	for i := range list {
		p := &list[i]
		w.record(20, p.Addr, uint16(len(p.Old)), uint16(len(p.New)), p.Old, p.New, make([]byte, -(12+len(p.Old)+len(p.New))&7), w.who(50, p.Time-offset, uint32(p.CPU), 1))
	}
	s := simSession(t, g, g.Start)
	var core, syms strings.Builder
	if err := kcore.WriteKcore(&core, s.Text(), 0, isa.Mode64); err != nil {
		t.Fatal(err)
	}
	for _, y := range g.Symbols {
		fmt.Fprintf(&syms, "%016x T %s\n", y.Addr, y.Name)
	}
	write := folder(t)
	write("kcore_dir/kcore", core.String())
	write("kcore_dir/kallsyms", syms.String())
	return filepath.Dir(write("data", string(w.bytes())))
}

// withGuest opens the hypervisor h with guests that the call names.
func withGuest(t *testing.T, h *sim.Run, list ...Guest) *Session {
	t.Helper()
	f := simrec.Recording(h, h.Start)
	f.Converts = true
	for i := range h.CPUs {
		f.Processes.Tasks.Ran(int32(i), 1, 7, 70+int32(i))
	}
	s, err := OpenRecording(f, Config{Guests: list})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestGuestRecording would catch flow of a host and of its guest that are not what they
// executed, where one call names both. It would catch a guest's changes that lie at wrong
// moments or in the host's code. It would catch a clock that is not found, and an offset
// that cannot be right and is not said to be wrong.
func TestGuestRecording(t *testing.T) {
	const behind = 123_456_789_012
	first, n := seeds(t, 3, 4)
	found := 0
	for seed := first; seed < first+n; seed++ {
		host := sim.Config{Seed: seed, Work: sim.WorkAll, Timing: sim.MTC, Insns: 4000}
		guest := sim.Config{Seed: seed + 1000, Work: sim.WorkJump | sim.WorkCall, Timing: sim.MTC, Insns: 4000, PokeGap: 4000, User: true}
		h, g := sim.SimulateGuest(host, guest)
		dir := guestDir(t, g, behind)
		for _, c := range []struct {
			name  string
			guest Guest
			wrong bool
		}{
			{"found", Guest{PID: 7, Recording: dir}, false},
			{"given", Guest{PID: 7, Recording: dir, HasOffset: true, Offset: behind}, false},
			{"wrong", Guest{PID: 7, Recording: dir, HasOffset: true, Offset: behind + 1e9}, true},
		} {
			s := withGuest(t, h, c.guest)
			in := Guests(s)[0]
			if off := in.offset - behind; c.name == "found" && off < 1e6 && off > -1e6 {
				found++
			}
			said := slices.ContainsFunc(s.Warnings(), func(w Warning) bool { return strings.Contains(w.What, "clock: ") })
			t.Logf("seed %d %s: offset off by %d, %d traps, said %v", seed, c.name, in.offset-behind, len(g.Traps), said)
			if c.name == "given" && said || c.wrong && !said {
				t.Errorf("seed %d, %s: %v", seed, c.name, s.Warnings())
			}
			if c.wrong {
				continue
			}
			got := decodeWith(t, h, s, Query{})
			anywhere(got)
			var both [2]scores
			both[0].compare(h, got, s.code.Load().text)
			mine := steps{}
			for i := range g.CPUs {
				mine[i] = got[len(h.CPUs)+i]
			}
			both[1].compare(g, mine, in.code.Load().text)
			for i, who := range []string{"host", "guest"} {
				sum := &both[i].timings[sim.MTC]
				t.Logf("%s: %d of %d settled, %d gaps", who, sum.settled, sum.insns, sum.gaps)
				if len(both[i].trouble) > 0 || sum.settled*100 < sum.insns*90 {
					t.Errorf("seed %d, %s: %s: %d of %d settled: %v", seed, c.name, who, sum.settled, sum.insns, both[i].trouble)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no offset was found")
	}
}

// TestInjectedGuest would catch the records of a virtual machine, which perf inject put
// among those of its host, taken for the host's. It would catch those of which nothing
// says whose they are, and that are laid to a machine.
func TestInjectedGuest(t *testing.T) {
	w := &perfWriter{}
	w.event(1, 9, 0, 1)
	w.event(1, 9, 0, 2)
	w.record(69, uint64(2), []uint64{1, 0, 0, 0, 2, 0, 0, 0}, []uint64{0, 0, 7, 0}) // ID_INDEX
	poke := func(id uint64, misc uint16, to string) {
		from := len(w.records)
		w.record(20, uint64(0xffffffff81000000), uint16(2), uint16(2), "\x66\x90", to, w.who(1, 1000+uint64(from), 0, id))
		copy(w.records[from+4:], bin(misc))
	}
	poke(1, 1, "\xeb\x10")
	poke(2, 4, "\xeb\x20")
	poke(0, 4, "\xeb\x30") // no event has this id
	s := opened(t, Config{Recording: w.write(t)})
	all := func(s *Session) (list []string) {
		for p := range s.Pokes() {
			list = append(list, fmt.Sprintf("%x", p.New))
		}
		return list
	}
	if got := all(s); !slices.Equal(got, []string{"eb10"}) {
		t.Errorf("host: %v", got)
	}
	if len(Guests(s)) != 1 || Guests(s)[0].Meta().Guest != 7 {
		t.Fatalf("guests: %v", Guests(s))
	}
	if got := all(Guests(s)[0]); !slices.Equal(got, []string{"eb20", "eb30"}) {
		t.Errorf("guest: %v", got)
	}
}

// TestGuestUnknown would catch code of the host claimed where a virtual machine ran of
// which nothing is given, such as behind a VM entry that ends tracing.
func TestGuestUnknown(t *testing.T) {
	var all scores
	for _, seed := range []uint64{1, 5, 9} {
		host, guest := drawn(seed), drawn(seed+1000)
		host.OVF, host.Insns, guest.User = 0, 2000, true
		guest.Timing, guest.MTCFreq, guest.NoRetComp, guest.OVF, guest.Insns = host.Timing, host.MTCFreq, host.NoRetComp, 0, 2000
		h, _ := sim.SimulateGuest(host, guest)
		s := simSession(t, h, h.Start)
		got := decodeWith(t, h, s, Query{Jobs: 1})
		anywhere(got)
		all.compare(h, got, s.code.Load().text)
	}
	for _, m := range all.trouble {
		t.Error(m)
	}
	t.Log("\n" + all.table())
}
