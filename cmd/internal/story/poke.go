// Package story tells of one change to the kernel's code all that a recording knows. That
// is the code before and after, who made it and from where, how each CPU came from the old
// code to the new, and which threads ran through it.
//
// A Poke is the value. As JSON it is the object of type "poke" (docs/formats/output.md).
// The verb pokes prints many of them with the first part only; Whole fills in the rest.
package story

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/kcore"
)

// Poke is a change to the kernel's code. Times are ns; addresses and bytes are hex.
type Poke struct {
	Type   string  `json:"type"`
	Guest  int32   `json:"guest,omitempty"` // the process that runs the virtual machine; absent: the host
	Index  int     `json:"index"`
	Time   uint64  `json:"time"`            // of the record
	Begin  *uint64 `json:"begin,omitempty"` // no CPU executed the new code before
	End    *uint64 `json:"end,omitempty"`   // no CPU executed the old code after
	CPU    *int    `json:"cpu,omitempty"`
	PID    int32   `json:"pid,omitempty"`
	TID    int32   `json:"tid,omitempty"`
	Comm   string  `json:"comm,omitempty"`
	Addr   string  `json:"addr" schema:"hex16"`
	Sym    string  `json:"sym,omitempty"`
	Kind   string  `json:"kind"`
	Scheme string  `json:"scheme"`
	Under  string  `json:"under,omitempty"` // a scheme that held CPUs back meanwhile
	Old    string  `json:"old" schema:"hex"`
	New    string  `json:"new" schema:"hex"`
	OldAsm string  `json:"old_disasm,omitempty"`
	NewAsm string  `json:"new_disasm,omitempty"`
	Valid  bool    `json:"valid"`
	Have   string  `json:"have,omitempty" schema:"hex"` // not valid: what lay there
	Want   string  `json:"want,omitempty" schema:"hex"` // not valid: what the record says lay there
	Batch  int     `json:"batch"`

	CPUs []Crossing `json:"cpus,omitempty"` // absent: not looked for, or no CPU came there

	Unseen []Unseen `json:"unseen,omitempty"` // of one poke alone: what is not known of CPUs

	Before  []Line   `json:"code_before,omitempty"` // of one poke alone: the code there before it
	After   []Line   `json:"code_after,omitempty"`  // and after it
	Path    *Path    `json:"path,omitempty"`        // from which code it was made
	Threads []Thread `json:"threads,omitempty"`     // that ran through it

	flow     bool   // the trace was decoded for it
	pathless string // why there is no Path
}

// Crossing is how a CPU went from the old code to the new.
type Crossing struct {
	CPU       *int32    `json:"cpu,omitempty"`
	TID       *int32    `json:"tid,omitempty"` // a thread's own stream
	ID        string    `json:"id,omitempty"`  // trace ID, hex
	Old       int       `json:"old"`           // executions
	LastOld   *Sighting `json:"last_old,omitempty"`
	Traps     int       `json:"traps"`
	FirstTrap *Sighting `json:"first_trap,omitempty"`
	LastTrap  *Sighting `json:"last_trap,omitempty"`
	New       int       `json:"new"` // executions
	FirstNew  *Sighting `json:"first_new,omitempty"`
	Verdict   string    `json:"verdict" schema:"verdict"`

	name string // of the stream
}

// Unseen is why nothing, or not all, is known of how a CPU went over.
type Unseen struct {
	CPU   *int32  `json:"cpu,omitempty"`
	TID   *int32  `json:"tid,omitempty"`
	ID    string  `json:"id,omitempty"`
	Why   string  `json:"why"`             // "elsewhere", "ended", "begins", "gap", "untraced"
	From  *uint64 `json:"from,omitempty"`  // of its trace, ns
	Until *uint64 `json:"until,omitempty"` // of its trace, ns

	name string // of the stream
}

// Sighting is one execution.
type Sighting struct {
	Time    uint64  `json:"time"`            // the lower bound
	Until   *uint64 `json:"until,omitempty"` // the upper bound
	Verdict string  `json:"verdict" schema:"verdict"`
}

// Line is an instruction of the code at a poke's site.
type Line struct {
	Addr  string `json:"addr" schema:"hex16"`
	Bytes string `json:"bytes,omitempty" schema:"hex"` // absent: not known
	Insn  string `json:"disasm,omitempty"`
	Poked bool   `json:"poked,omitempty"` // the poke changes it
}

// Thread is a thread that executed a poke's site, on any CPU.
type Thread struct {
	TID   *int32 `json:"tid,omitempty"` // absent: threads that are not known
	Comm  string `json:"comm,omitempty"`
	Old   int    `json:"old"` // executions of the old code
	Traps int    `json:"traps"`
	New   int    `json:"new"`

	Unsure int `json:"unsure,omitempty"` // of all these, how many may be another thread's
}

// New makes a Poke of what records tell of k, and of how the CPUs crossed it.
func New(s *decoder.Session, k *decoder.PokeInfo, crossings []report.Crossing) *Poke {
	p := &Poke{
		Type: "poke", Guest: s.Meta().Guest, Index: k.Index, Time: k.Time, Addr: hex16(k.Addr), Sym: k.Symbol,
		Kind: k.Kind.String(), Scheme: k.Scheme.String(), Old: hex.EncodeToString(k.Old), New: hex.EncodeToString(k.New),
		OldAsm: SideAsm(s, k, k.Old, 0), NewAsm: SideAsm(s, k, k.New, 1),
		PID: k.PID, TID: k.TID, Comm: k.Comm, Valid: k.Broken == nil, Batch: k.Batch, CPUs: crossed(s, crossings),
	}
	if k.Stored != kcore.SchemeNone {
		p.Scheme, p.Under = k.Stored.String(), p.Scheme
	}
	if cpu := k.CPU; cpu >= 0 {
		p.CPU = &cpu
	}
	if begin, end := k.Begin, k.End; begin != k.Time || end != k.Time {
		p.Begin, p.End = &begin, &end
	}
	if k.Broken != nil {
		p.Have, p.Want = hex.EncodeToString(k.Broken.Have), hex.EncodeToString(k.Broken.Want)
	}
	return p
}

// crossed makes objects of how the CPUs crossed a poke.
func crossed(s *decoder.Session, list []report.Crossing) []Crossing {
	out := []Crossing{}
	for i := range list {
		c, st := &list[i], s.Streams()[list[i].Stream]
		j := Crossing{
			Old: c.Old.N, LastOld: sighting(&c.Old, &c.Old.Last),
			Traps: c.Traps.N, FirstTrap: sighting(&c.Traps, &c.Traps.First), LastTrap: sighting(&c.Traps, &c.Traps.Last),
			New: c.New.N, FirstNew: sighting(&c.New, &c.New.First), Verdict: c.Verdict().String(), name: st.Name,
		}
		j.CPU, j.TID, j.ID = NamedBy(st)
		out = append(out, j)
	}
	return out
}

// sighting makes an object of an execution; nil if there was none.
func sighting(s *report.Sightings, x *report.Sighting) *Sighting {
	if s.N == 0 {
		return nil
	}
	j := &Sighting{Time: x.Time.Lo, Verdict: x.Verdict.String()}
	if hi := x.Time.Hi; hi != math.MaxUint64 && hi != x.Time.Lo {
		j.Until = &hi
	}
	return j
}

// SideAsm disassembles a side of a poke: text is its old code, and since is 0, or its
// new code, and since is 1. A side can end inside an instruction, as the byte under a
// breakpoint does; the code that lay behind it completes it.
func SideAsm(s *decoder.Session, k *decoder.PokeInfo, text []byte, since event.Epoch) string {
	whole := make([]byte, len(text)+15) // the longest instruction, bytes
	n, _ := s.Text().Fetch(whole, k.Addr, event.Epoch(k.Index)+since)
	if n < len(text) || !bytes.Equal(whole[:len(text)], text) {
		whole, n = text, len(text) // something else lay there
	}
	return Disasm(s, whole[:n], k.Addr, k.Time, len(text))
}

// Disasm disassembles text, the code at addr, up to the instruction that holds byte n-1.
// Names are those of a time, ns.
func Disasm(s *decoder.Session, text []byte, addr, time uint64, n int) string {
	var list []string
	for off := 0; off < n && off < len(text); {
		line, size := report.Insn(s, text[off:], addr+uint64(off), time)
		list = append(list, line)
		off += size
	}
	return strings.Join(list, "; ")
}

func hex16(v uint64) string { return fmt.Sprintf("%016x", v) }
