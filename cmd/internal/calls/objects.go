package calls

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// functionObject is a group of calls as an object.
type functionObject struct {
	Type      string  `json:"type"` // "function"
	Sym       string  `json:"sym"`
	Guest     int32   `json:"guest,omitempty"` // the virtual machine's process
	Addr      string  `json:"addr"`            // 0x and hex digits
	File      string  `json:"file,omitempty"`
	By        string  `json:"by,omitempty"`
	Part      string  `json:"part,omitempty"` // of --split-at: before, across, after
	Count     uint64  `json:"count"`
	Timed     uint64  `json:"timed"`               // calls that have a time
	Open      uint64  `json:"open"`                // calls that have none
	Unseen    uint64  `json:"unseen"`              // calls that began before the trace shows them: count has them not
	Elsewhere uint64  `json:"elsewhere,omitempty"` // calls that began in the trace without their first instruction: count has them not
	Ambiguous uint64  `json:"ambiguous"`
	Insns     uint64  `json:"instructions"` // with callees
	Total     *uint64 `json:"total_ns,omitempty"`
	Self      *uint64 `json:"self_ns,omitempty"`
	Min       *uint64 `json:"min_ns,omitempty"`
	Median    *uint64 `json:"p50_ns,omitempty"`
	P90       *uint64 `json:"p90_ns,omitempty"`
	P99       *uint64 `json:"p99_ns,omitempty"`
	Max       *uint64 `json:"max_ns,omitempty"`
	Off       *uint64 `json:"uncertainty_ns,omitempty"` // how far off a time may be: the median
	jsonPace
	Counted uint64 `json:"counted,omitempty"` // calls that have cycles
}

// callObject is one call as an object: one of the slowest, or of all.
type callObject struct {
	Type  string  `json:"type"` // "call"
	Sym   string  `json:"sym"`
	Guest int32   `json:"guest,omitempty"` // the virtual machine's process
	Addr  string  `json:"addr"`            // 0x and hex digits
	File  string  `json:"file,omitempty"`
	Ns    *uint64 `json:"total_ns,omitempty"` // absent: the beginning or the end is not known
	Self  *uint64 `json:"self_ns,omitempty"`
	Off   *uint64 `json:"uncertainty_ns,omitempty"` // how far off total_ns may be; absent: by any time
	Insns uint64  `json:"instructions"`             // with callees
	jsonPace
	Begin   jsonMoment `json:"begin"`
	End     jsonMoment `json:"end"`
	Stream  string     `json:"stream"`
	TID     int32      `json:"tid"`
	Comm    string     `json:"comm"`
	Depth   int        `json:"depth"`
	Caller  string     `json:"caller,omitempty"` // the function that called it, or that it interrupted
	Entered string     `json:"entered"`          // how
	Verdict string     `json:"verdict"`          // the least sure of what ran in it
	Gap     bool       `json:"gap,omitempty"`    // a gap lies in it
	Ended   string     `json:"ended"`            // how
	Show    string     `json:"show,omitempty"`   // what to type to see what ran in it
}

// objectOf returns a call that ended as an object.
func objectOf(c *calls.Call) callObject {
	x := callObject{
		Type: "call", Sym: c.Sym, Guest: c.Guest(), Addr: fmt.Sprintf("0x%x", c.Addr), File: c.File, Insns: c.Insns,
		Begin: momentOf(c.Begin), End: momentOf(c.End), Stream: c.Stream.Name, TID: c.TID, Comm: c.Comm, Depth: c.Depth,
		Entered: c.How.String(), Ended: c.Ended.String(), Verdict: c.Verdict.String(), Gap: c.Gap,
	}
	if c.Caller != nil {
		x.Caller = nameOf(c.Caller.Sym, c.Caller.Addr)
	}
	if total, self, ok := c.Took(); ok {
		x.Ns, x.Self = &total, &self
		if off := offBy(c, total); off < math.MaxInt64 {
			x.Off = &off
		}
	}
	p := paceOf(c)
	x.jsonPace = p.object()
	return x
}

// jsonPace is how many cycles the core counted in calls, and instructions a cycle; absent: not
// known.
type jsonPace struct {
	Cycles *uint64  `json:"cycles,omitempty"`
	IPC    *float64 `json:"ipc,omitempty"`
}

// object returns p as an object has it.
func (p *pace) object() (x jsonPace) {
	if p.counted > 0 {
		x.Cycles = &p.cycles
	}
	if ipc, ok := p.perCycle(); ok {
		ipc = math.Round(ipc*1000) / 1000
		x.IPC = &ipc
	}
	return x
}

// jsonMoment is the bounds of a moment, ns.
type jsonMoment struct {
	Lo uint64 `json:"lo"`           // 0: not known
	Hi uint64 `json:"hi,omitempty"` // absent: not known
}

// momentOf returns the bounds of a moment as an object has them.
func momentOf(t event.Time) jsonMoment {
	if t.Hi == math.MaxUint64 {
		t.Hi = 0
	}
	return jsonMoment{t.Lo, t.Hi}
}

// objects writes the table as JSON Lines.
func (t *table) objects(w io.Writer) error {
	t.sort()
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, g := range t.groups {
		k := &g.took
		x := functionObject{
			Type: "function", Sym: g.sym, Guest: g.guest, Addr: fmt.Sprintf("0x%x", g.addr), File: g.file, By: g.by, Part: partNames[g.part],
			Count: g.count, Timed: k.N, Open: g.open, Unseen: g.unseen, Elsewhere: g.elsewhere, Ambiguous: g.weak, Insns: g.insns,
			jsonPace: g.object(), Counted: g.counted,
		}
		if k.N > 0 {
			p50, p90, p99 := k.Quantile(0.5), k.Quantile(0.9), k.Quantile(0.99)
			x.Total, x.Self, x.Min, x.Max = &k.Sum, &g.self, &k.Least, &k.Most
			x.Median, x.P90, x.P99 = &p50, &p90, &p99
			if off := g.off.Quantile(0.5); g.off.N > 0 && off < math.MaxInt64 {
				x.Off = &off
			}
		}
		if err := e.Encode(&x); err != nil {
			return err
		}
	}
	for i := range t.slow {
		x := t.slow[i].object
		x.Show = t.show(&t.slow[i])
		err := e.Encode(&x)
		if err != nil {
			return err
		}
	}
	return nil
}
