package output

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/schema"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// knowing is a Recording that knows of every address what there may be to know.
type knowing struct{ nobody }

func (knowing) Kernel(uint64) bool                                     { return false }
func (knowing) UserEpochs(uint32, uint64) event.Span                   { return event.Span{Until: event.MaxEpoch} }
func (knowing) ISA() (d isa.Decoder, m isa.Mode)                       { return nil, isa.ModeA64 }
func (knowing) Code(dst []byte, _ uint32, _ uint64, _ event.Epoch) int { return len(dst) }

func (knowing) Symbol(uint32, uint64, uint64) (sym string, off uint64, dso string, ok bool) {
	return "sym", 4, "dso", true
}

func (knowing) Lines(uint32, uint64, uint64) []symbols.Frame {
	return []symbols.Frame{{Sym: "inner", File: "a.h", Line: 2}, {Sym: "sym", File: "a.c", Line: 9}}
}

func (knowing) Running(int, uint64) (tid int32, comm string, until uint64, ok bool) {
	return 7, "comm", 1 << 60, true
}

func (knowing) Format([]byte, uint64, isa.Mode, func(uint64) (string, uint64)) string { return "nop" }

// declared holds objects to the schemas of their types, and counts the names that they have.
type declared struct {
	t       *testing.T
	j       *jsonEncoder
	schemas map[string]*schema.Schema
	seen    map[string]map[string]bool
}

// row holds the object of r to its schema.
func (d *declared) row(r *rows.Row) {
	d.t.Helper()
	line := d.j.row(nil, r)
	var v map[string]any
	if err := json.Unmarshal(line, &v); err != nil {
		d.t.Fatalf("%v: %s", err, line)
	}
	typ := r.Kind.String()
	if wrong := d.schemas[typ].Validate(v); wrong != "" {
		d.t.Errorf("%s%s: %s", typ, wrong, line)
	}
	if d.seen[typ] == nil {
		d.seen[typ] = map[string]bool{}
	}
	for k := range v {
		d.seen[typ][k] = true
	}
}

// TestKeysAreDeclared would catch a name in an object that is not in the schema of its type,
// and one in the schema that no object has. It makes objects with all fields, and elements
// of all events, each with every bit of what an event may say.
func TestKeysAreDeclared(t *testing.T) {
	d := declared{t: t, schemas: map[string]*schema.Schema{}, seen: map[string]map[string]bool{}}
	for typ, o := range Objects() {
		d.schemas[typ] = schema.Of(typ, "", o.Type)
	}
	all := make([]Field, numFields)
	for f := range all {
		all[f] = Field(f)
	}
	d.j = newJSON(rows.NewNames(knowing{}, 1), all, nil).(*jsonEncoder)
	place := func(int64) (file string, at int64, ok bool) { return "data", 8, true }
	for _, st := range []rows.Stream{{CPU: 3, TID: -1, Guest: 5, FileOff: place}, {CPU: -1, TID: 7}, {CPU: -1, TID: -1, ID: "10"}} {
		for _, k := range []rows.Kind{rows.KindInsn, rows.KindBlock, rows.KindBranch, rows.KindCall} {
			d.row(&rows.Row{Kind: k, Stream: &st, Time: event.Time{Lo: 1, Hi: 2}, HasAddr: true, N: 2, Len: 4, Transfer: rows.Transfer(1), Mode: isa.ModeA64,
				IP: 0x1000, Addr: 0x2000, Poke: 1, Depth: 1, Class: isa.Jump, Span: event.Span{From: 1, Until: event.MaxEpoch}})
		}
		d.row(&rows.Row{Kind: rows.KindTrap, Stream: &st, HasAddr: true, Trap: decoder.TrapWindow, Poke: -1, Depth: 1})
		d.elements(&st)
	}
	for _, types := range [][]string{{"insn", "block", "branch", "call"}, {"element"}, {"gap"}, {"event"}} {
		seen := map[string]bool{}
		for _, typ := range types {
			maps.Copy(seen, d.seen[typ])
		}
		for _, typ := range types {
			for _, name := range slices.Sorted(maps.Keys(d.schemas[typ].Properties)) {
				if !seen[name] {
					t.Errorf("%s: the schema has %q, which no object has", typ, name)
				}
			}
		}
	}
}

// elements holds the elements, events and gaps of a stream to their schemas.
func (d *declared) elements(st *rows.Stream) {
	for _, v := range []decoder.Verdict{decoder.Certain, decoder.Ambiguous} {
		d.row(&rows.Row{Kind: rows.KindElement, Element: "INSTR_RANGE", Stream: st, Time: event.Time{Lo: 1, Hi: 2}, N: 2, Mode: isa.ModeA64, IP: 0x1000, Addr: 0x1008, Verdict: v})
	}
	note := func(n decoder.Note) {
		kind := rows.KindEvent
		if n.Kind == decoder.NoteGap {
			kind = rows.KindGap
		}
		for n.Poke = -1; n.Poke <= 1; n.Poke += 2 {
			d.row(&rows.Row{Kind: rows.KindElement, Element: "X", Stream: st, Note: &n})
			d.row(&rows.Row{Kind: kind, Stream: st, Time: event.Time{Lo: 1, Hi: 2}, Note: &n})
		}
	}
	note(decoder.Note{Kind: decoder.NoteGap, Gap: event.Gap{Reason: event.NoText, IP: 0x3000, Time: event.Time{Lo: 1, Hi: 2}, What: "what"}})
	note(decoder.Note{Kind: decoder.NoteCut, Others: []decoder.Stretch{{N: 1}}})
	note(decoder.Note{Kind: decoder.NoteTrap, Trap: decoder.TrapWindow, Event: event.Event{Kind: event.Async, Detail: event.DetailException, Flags: event.FlagIP}})
	note(decoder.Note{Kind: decoder.NoteEvent, IP: 1, Event: event.Event{Kind: event.AsyncDisable, Flags: event.FlagHere}})
	for detail := event.DetailNone; detail <= event.DetailDataSync; detail++ {
		for bit := -2; bit < 64; bit++ {
			bits := uint64(1) << max(bit, 0)
			switch bit {
			case -2:
				bits = 0
			case -1:
				bits = 1<<64 - 1
			}
			for _, kind := range []event.Kind{event.Payload, event.Context} {
				note(decoder.Note{Kind: decoder.NoteEvent, Event: event.Event{Kind: kind, Detail: detail, Value: 12, Value2: bits}})
			}
		}
	}
}
