package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// coverage counts the situations that runs hold.
type coverage map[string]int

func (v coverage) add(r *Run) {
	for i := range r.Pokes {
		p := &r.Pokes[i]
		v["poke "+p.Scheme.String()]++
		if i > 0 && r.Pokes[i-1].Batch == p.Batch && p.Scheme == SchemeBP && r.Pokes[i-1].Scheme == SchemeBP {
			v["batch of several"]++
		}
		if p.Scheme == SchemeSlot && len(p.Old) == 0 {
			for _, q := range r.Pokes[:i] {
				if q.Addr == p.Addr {
					v["address used again"]++
					break
				}
			}
		}
		if p.Scheme == SchemeBP && p.Old[0] == 0xcc {
			v["optprobe"]++
		}
		if p.Scheme == SchemeKprobe && len(p.New) == 5 {
			v["unoptimised"]++
		}
	}
	traps := map[int][]*Trap{}
	for i := range r.Traps {
		tr := &r.Traps[i]
		v["trap "+tr.Kind.String()]++
		if tr.Poke >= 0 {
			v["trap under "+r.Pokes[tr.Poke].Scheme.String()]++
		}
		traps[tr.CPU] = append(traps[tr.CPU], tr)
	}
	for c := range r.CPUs {
		v.addCPU(r, c, traps[c])
	}
}

func (v coverage) addCPU(r *Run, c int, traps []*Trap) {
	cpu := &r.CPUs[c]
	v["overflow"] += len(cpu.Lost)
	depth, deepest, frames := 0, 0, 0
	int3, nmi, timer, debug := symbol(r, "asm_exc_int3"), symbol(r, "asm_exc_nmi"), symbol(r, "asm_sysvec_apic_timer_interrupt"), symbol(r, "asm_exc_debug")
	var open []uint64 // entries of the handlers in progress
	for k, in := range cpu.Insns {
		switch in.IP {
		case int3, nmi, timer, debug:
			v["in handler"]++
			if slices.Contains(open, int3) && in.IP == nmi {
				v["NMI in a breakpoint's handler"]++
			}
			if slices.Contains(open, int3) && in.IP == int3 {
				v["breakpoint in an NMI in a breakpoint's handler"]++
			}
			if slices.Contains(open, timer) && in.IP == timer {
				v["nested interrupt"]++
			}
			if in.IP == debug {
				v["single-step"]++
			}
			open = append(open, in.IP)
			frames++
		}
		d := decode(r.Codes[in.Code].Fetched(), in.IP)
		switch d.op {
		case opIret:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			if k+1 < len(cpu.Insns) {
				to := cpu.Insns[k+1].IP
				for i := range r.Pokes {
					p := &r.Pokes[i]
					if p.Addr == to && p.Scheme == SchemeBP && p.Begin <= in.Time && in.Time <= p.End {
						v["IRET to a site in its window"]++
					}
				}
			}
		case opCall, opCallInd:
			depth++
			deepest = max(deepest, depth)
		case opRet:
			depth = max(depth-1, 0)
		case opRep:
			v["rep"]++
		}
		if in.IP >= dynBase && in.IP < dynBase+dynSize {
			v["in slots and trampolines"]++
		}
	}
	if deepest > retDepth {
		v["deeper than the return stack"]++
	}
}

// TestCovers would catch a scheme, a trap or a nesting that the machine has
// code for but never comes to.
func TestCovers(t *testing.T) {
	v := coverage{}
	for seed := range seeds(t) {
		v.add(Simulate(Draw(seed)))
	}
	var lines []string
	for name, n := range v {
		lines = append(lines, fmt.Sprintf("%7d %s", n, name))
	}
	slices.Sort(lines)
	t.Log("\n" + strings.Join(lines, "\n"))
	for _, want := range []string{
		"poke bp", "poke kprobe", "poke slot", "poke xmc", "poke stop_machine", "poke atomic",
		"batch of several", "address used again", "optprobe", "unoptimised",
		"trap window", "trap armed", "trap slot", "trap under bp", "trap under xmc", "trap under kprobe",
		"single-step", "nested interrupt", "NMI in a breakpoint's handler",
		"IRET to a site in its window", "in slots and trampolines", "deeper than the return stack", "overflow", "rep",
	} {
		if v[want] == 0 {
			t.Errorf("%s: %d in all", want, v[want])
		}
	}
}
