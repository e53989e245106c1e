package flow

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// toy is an instruction set in which a byte is an instruction. Its low five bits
// are the class, the next two the flags that matter to a lead. Its static target
// lies 24 addresses ahead of it, or behind it if the top bit is set.
type toy struct{}

var toyFlags = [4]isa.Flags{0, isa.FlagZeroCall, isa.FlagConditional, isa.FlagTx}

func (toy) MaxLen() int { return 1 }

func (toy) Decode(in *isa.Insn, b []byte, ip uint64, _ isa.Mode) isa.Status {
	if len(b) == 0 {
		return isa.Short
	}
	c := isa.Class(b[0] & 31)
	if c >= isa.NumClasses {
		return isa.Bad
	}
	*in = isa.Insn{Len: 1, Class: c, Flags: toyFlags[b[0]>>5&3]}
	if isa.Set(isa.Jump, isa.Cond, isa.Call).Has(c) {
		if in.Target = ip + 24; b[0]>>7 != 0 {
			in.Target = ip - 24
		}
	}
	return isa.OK
}

// toyRules is the rules that protocols have, as far as classes matter to them.
var toyRules = map[string]isa.Rules{
	"PT":            {Waypoints: isa.Set(isa.Cond), Returns: isa.ReturnsCompressed},
	"PT without RC": {Waypoints: isa.Set(isa.Cond)},
	"ETMv4": {Waypoints: armRules.Waypoints | isa.Set(isa.FarJump, isa.Wait), Raises: isa.Set(isa.Syscall), Syncs: isa.Set(isa.Barrier, isa.FarReturn),
		Returns: isa.ReturnsByOutcome, SilentBranches: true, AlwaysConditional: 1 << isa.ModeT32, StraightOnReserved: 1 << isa.ModeA64},
	"PTM":   {Waypoints: armRules.Waypoints, Raises: isa.Set(isa.Syscall), Syncs: isa.Set(isa.FarReturn), PopsFirst: true, Returns: isa.ReturnsByOutcome},
	"ETMv3": {Waypoints: 1<<isa.NumClasses - 1, Syncs: isa.Set(isa.Barrier, isa.FarReturn), AlwaysConditional: 1<<isa.ModeA32 | 1<<isa.ModeT32},
}

// TestLeads would catch a class that leads elsewhere than it does, spends an
// outcome of another, or pushes where nothing returns to.
func TestLeads(t *testing.T) {
	where := []string{"next", "target", "stated", "far", "trap", "raised", "unread"}
	tell := func(l lead) string {
		s := where[l&place]
		for i, name := range []string{" spends", " fails", " calls", " returns", " syncs"} {
			if l&(spends<<i) != 0 {
				s += name
			}
		}
		return s
	}
	flags := []string{"", " to the next", " conditional", " of a transaction"} // toyFlags
	for _, c := range []struct {
		rules string
		mode  isa.Mode
		leads string // a line for a class and its flags
	}{
		{"PT", isa.Mode64, `cond: target spends fails
			jump: target
			call: target calls
			call to the next: target
			return: stated returns
			jump-indirect: stated
			call-indirect: stated calls
			syscall: far
			jumpabs: far
			vm-enter: far
			break: trap
			wait: next`},
		{"PT", isa.Mode32, `int conditional: trap fails`},
		{"ETMv4", isa.ModeA64, `cond: target spends fails
			jump: target spends
			call to the next: target spends calls
			return: stated spends returns
			far-return: far spends syncs
			barrier: next spends syncs
			barrier of a transaction: next spends
			syscall: raised`},
		{"ETMv4", isa.ModeT32, `jump: target spends fails
			syscall: raised fails
			break: trap
			undefined: trap fails`},
		{"ETMv3", isa.ModeA64, `other: next spends`},
		{"ETMv3", isa.ModeA32, `syscall: next spends fails
			break: trap spends`},
	} {
		for line := range strings.Lines(c.leads) {
			insn, want, _ := strings.Cut(strings.TrimSpace(line), ": ")
			r, known := toyRules[c.rules], false
			for class := range isa.NumClasses {
				for i, flag := range flags {
					if insn != class.String()+flag {
						continue
					}
					known = true
					if got := tell(leadOf(&r, class, toyFlags[i], c.mode, event.ReasonNone)); got != want {
						t.Errorf("%s, mode %d: %s: %s, want %s", c.rules, c.mode, insn, got, want)
					}
				}
			}
			if !known {
				t.Errorf("no class %q", insn)
			}
		}
	}
	if got := tell(leadOf(new(isa.Rules), isa.Other, 0, isa.Mode64, event.NoText)); got != "unread" {
		t.Errorf("in front of unknown text: %s", got)
	}
}

// allTold is a Sink that keeps all that one could tell two walks apart by: each
// instruction with its verdict and its moment, and each note where it stands.
type allTold []string

func (l *allTold) Flow(b *Batch) error {
	for n, r := range b.All() {
		if n != nil {
			*l = append(*l, fmt.Sprintf("note %d %x %v %v+%d", n.Kind, n.IP, n.Gap.Reason, n.Event.Kind, n.Event.Off))
			continue
		}
		for _, ip := range r.Block.appendIPs(nil, int(r.N)) {
			*l = append(*l, fmt.Sprintf("%x %v at +%d", ip, r.Verdict, b.Stamps[r.Stamp].Off))
		}
	}
	return nil
}

// TestFastByClass would catch a fast path that does with an instruction of any
// class, under any protocol's rules, what the careful way does not. Programs are
// bytes at random, and so is the trace: most of it contradicts the code sooner or
// later, and where it does is compared too.
func TestFastByClass(t *testing.T) {
	classes := map[isa.Class]int{}
	for name, rules := range toyRules {
		for seed := range uint64(testsize.Of(t, 120, 400)) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			mode := isa.Mode64
			if !rules.Waypoints.Has(isa.JumpInd) {
				mode = []isa.Mode{isa.Mode64, isa.Mode32}[rnd.IntN(2)]
			} else {
				mode = []isa.Mode{isa.ModeA64, isa.ModeT32}[rnd.IntN(2)]
			}
			x := &testText{addr: 0x1000, bytes: toyProgram(rnd)}
			evs := toyTrace(rnd, mode)
			var got [2]allTold
			for i := range got {
				w := NewWalker(x, NewCache(), Config{ISA: toy{}, Rules: rules, Mode: mode})
				w.careful = i == 1
				told := w.exec.out.wait.told
				w.exec.out.wait.probe = func(s stretch, m *marks) {
					if at, n := s.backOver(heldBack, told); n != s.stated {
						t.Errorf("%s, seed %d: %d stated targets counted, want %d", name, seed, s.stated, n)
					} else if n == heldBack && m.oldest()+1 != at {
						t.Errorf("%s, seed %d: doubt goes back to behind range %d, want %d", name, seed, m.oldest(), at)
					}
				}
				if i == 0 && seed%8 == 0 {
					w.paths.misses = pathAfter // 4 MiB of them
				}
				for range 3 { // so that paths are known, too
					src := evs
					got[i] = nil
					if err := w.Run(&src, &got[i]); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, b := range x.bytes {
				classes[isa.Class(b&31)]++
			}
			if slices.Equal(got[0], got[1]) {
				continue
			}
			at := 0
			for at < min(len(got[0]), len(got[1])) && got[0][at] == got[1][at] {
				at++
			}
			t.Fatalf("%s, seed %d: behind %q the fast way has %q, the careful one %q", name, seed,
				got[0][max(0, at-3):at], got[0][at:min(at+3, len(got[0]))], got[1][at:min(at+3, len(got[1]))])
		}
	}
	for c := range isa.NumClasses {
		if classes[c] == 0 {
			t.Errorf("class %d is in no program", c)
		}
	}
}

// toyProgram returns 96 instructions, of all classes, most of them branches.
func toyProgram(rnd *rand.Rand) []byte {
	b := make([]byte, 96)
	for i := range b {
		c := []isa.Class{isa.Other, isa.Cond, isa.Jump, isa.Call, isa.Return, isa.JumpInd, isa.CallInd}[rnd.IntN(7)]
		if rnd.IntN(12) == 0 {
			c = isa.Class(rnd.IntN(int(isa.NumClasses)))
		}
		b[i] = byte(c)
		if c == isa.Cond && i >= 48 { // none else goes back: how often a loop is printed before it is told may differ
			b[i] |= 1 << 7
		}
		if rnd.IntN(8) == 0 {
			b[i] |= byte(rnd.IntN(4)) << 5
		}
	}
	return b
}

// toyTrace returns a trace that begins somewhere and states an address often enough
// to begin anew.
func toyTrace(rnd *rand.Rand, m isa.Mode) (evs events) {
	ip := func() uint64 { return 0x1000 + uint64(rnd.IntN(96)) }
	for i := range 60 {
		var e event.Event
		switch k := rnd.IntN(16); {
		case i == 0, k == 0:
			e = event.Event{Kind: event.Sync, Flags: event.FlagIP | event.FlagMode, Mode: uint8(m), IP: ip()}
		case k < 9:
			e = event.Event{Kind: event.Outcomes, N: uint8(1 + rnd.IntN(12)), Value: rnd.Uint64() | rnd.Uint64()}
			e.Value &= ^uint64(0) << (64 - e.N)
		case k < 14:
			e = to(ip())
		case k == 14:
			e = async(ip(), ip())
		default:
			e = event.Event{Kind: event.Enable, Flags: event.FlagIP, IP: ip()}
			if m == isa.Mode64 || m == isa.Mode32 {
				off := event.Event{Kind: event.Disable, Off: int64(len(evs))}
				if rnd.IntN(3) != 0 {
					off.Flags, off.IP = event.FlagIP, ip()
				}
				evs = append(evs, off)
			}
		}
		e.Off = int64(len(evs))
		evs = append(evs, e)
	}
	return append(evs, end())
}
