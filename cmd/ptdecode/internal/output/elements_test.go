package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// armNotes are notes as an Arm stream brings them, and the elements that they are.
var armNotes = []struct {
	note decoder.Note
	want string // without the stream
	ends bool   // a run
}{
	{decoder.Note{Kind: decoder.NoteTrackOff, Event: event.Event{Kind: event.Off, Detail: event.DetailNoSync}}, "NO_SYNC", true},
	{decoder.Note{Kind: decoder.NoteTrackOff, Event: event.Event{Kind: event.Off, Detail: event.DetailTraceOn}}, "TRACE_ON", true},
	{plainNote(event.Event{Kind: event.Context, Detail: event.DetailPE, Value: 7<<32 | 0x1234,
		Value2: event.PEHasLevel | event.PEHasID | event.PEHasVMID | event.PE64 | event.PENonSecure | 1}),
		"PE_CONTEXT el=1 state=A64 security=non-secure context=4660 vmid=7", false},
	{plainNote(event.Event{Kind: event.Context, Detail: event.DetailPE, Value2: event.PEHasLevel | event.PENonSecure | event.PERealm}),
		"PE_CONTEXT el=0 state=A32 security=realm", false},
	{plainNote(event.Event{Kind: event.Context, Detail: event.DetailPE, Value2: event.PEHyp}), "PE_CONTEXT mode=hyp", false},
	{plainNote(event.Event{Kind: event.Async, Detail: event.DetailException, Flags: event.FlagIP, Value: 14, From: 0x1004, IP: 0x200}),
		"EXCEPTION number=14 from=0000000000001004 to=0000000000000200", true},
	{decoder.Note{Kind: decoder.NoteEvent, IP: 0x1008, Poke: -1, Event: event.Event{Kind: event.Async, Detail: event.DetailException, Flags: event.FlagHere, Value: 3}},
		"EXCEPTION number=3 from=0000000000001008", true},
	{decoder.Note{Kind: decoder.NoteTrap, Poke: -1, Trap: decoder.TrapWindow, Event: event.Event{Kind: event.Async, Detail: event.DetailException, Value: 6, From: 0x1004}},
		"EXCEPTION number=6 from=0000000000001004 trap=window", true},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailExceptionRet}), "EXCEPTION_RET", true},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailTimestamp, Value: 0xabc}), "TIMESTAMP value=0000000000000abc", false},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailCycleCount, Value: 12}), "CYCLE_COUNT count=12", false},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailCycleCount, Value2: 1}), "CYCLE_COUNT count=unknown", false},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailTimestamp, Value: 5, Value2: 60<<8 | 1}), "TIMESTAMP value=0000000000000005 clock=changed unknown=60", false},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailTimestampMarker}), "SYNC_MARKER", false},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailInstrumentation, Value: 0xfffff, Value2: 1}), "INSTRUMENTATION value=00000000000fffff el=1", false},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailTraceEvent, Value: 5}), "EVENT events=5", false},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailTxBegin}), "MEMTRANS what=begin", false},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailTxAbort}), "MEMTRANS what=fail", false},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailSoftware, Value: 0xbb,
		Value2: 3 | 0x41<<event.SWMasterShift | 8<<event.SWSizeShift | event.SWMarker}),
		"SWTRACE master=65 channel=3 bits=8 value=00000000000000bb marker=yes", false},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailHardware, Value: 0x15, Value2: 2 | 16<<event.SWSizeShift}),
		"ITMTRACE master=0 channel=2 bits=16 value=0000000000000015 source=dwt", false},
	{decoder.Note{Kind: decoder.NoteGap, Poke: -1, Gap: event.Gap{Reason: event.NoText, IP: 0x3000}}, "ADDR_NACC ip=0000000000003000 reason=no-text", true},
	{decoder.Note{Kind: decoder.NoteGap, Poke: -1, Gap: event.Gap{Reason: event.NoPath, IP: 0x3000}}, "I_RANGE_NOPATH ip=0000000000003000 reason=no-path", true},
	{decoder.Note{Kind: decoder.NoteGap, Poke: -1, Gap: event.Gap{Reason: event.Mismatch}}, "", true},
	{decoder.Note{Kind: decoder.NoteTrackOn, Event: event.Event{Kind: event.Enable}}, "", false},
	{plainNote(event.Event{Kind: event.Payload, Detail: event.DetailCBR}), "", false},
}

// plainNote is a note of an event that moves nothing.
func plainNote(e event.Event) decoder.Note {
	return decoder.Note{Kind: decoder.NoteEvent, Event: e, Poke: -1}
}

// nobody is a Recording that knows nothing.
type nobody struct{ rows.Recording }

func (nobody) Symbols() *symbols.Table                           { return nil }
func (nobody) Running(int, uint64) (int32, string, uint64, bool) { return 0, "", 0, false }

// TestElements would catch an element that is missing, has another name, or says
// something else. It would also catch a run that ends in the wrong place.
func TestElements(t *testing.T) {
	st := rows.Stream{CPU: -1, TID: -1, ID: "10", Name: "id10"}
	for _, x := range armNotes {
		var text, objects bytes.Buffer
		for _, w := range []struct {
			to     *bytes.Buffer
			format string
		}{{&text, "text"}, {&objects, "jsonl"}} {
			o := Options{Format: FormatNamed(w.format), Options: rows.Options{Level: rows.LevelElement}, Say: func(string) {}}
			sink, _, _ := New(nobody{}, []rows.Stream{st}, nil, w.to, o)
			if err := sink.Flow(&decoder.Batch{Notes: []decoder.Note{x.note}}); err != nil {
				t.Fatal(err)
			}
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
		}
		want := "10 EO_TRACE\n"
		if x.want != "" {
			want = "10 " + x.want + "\n" + want
		}
		if text.String() != want {
			t.Errorf("got  %swant %s", text.String(), want)
		}
		for l := range strings.Lines(objects.String()) {
			var o map[string]any
			if err := json.Unmarshal([]byte(l), &o); err != nil || o["id"] != "10" {
				t.Errorf("%v: %s", err, l)
			}
			for _, f := range strings.Fields(x.want)[min(1, len(strings.Fields(x.want))):] {
				k, v, _ := strings.Cut(f, "=")
				if o["type"] == "element" && o["name"] != "EO_TRACE" && fmt.Sprint(o[k]) != v {
					t.Errorf("%s: %v, want %s", k, o[k], v)
				}
			}
		}
		if endsRun(&x.note) != x.ends {
			t.Errorf("%s: ends a run: %t, want %t", x.want, !x.ends, x.ends)
		}
	}
}

// TestRunsOfReturns would catch a run that goes on over an executed ERET although
// the protocol has no packet for it. It would also catch a run that joins two
// instruction sets, and a partial block taken as a whole one.
func TestRunsOfReturns(t *testing.T) {
	block := func(addr uint64, m isa.Mode, c isa.Class, n int) *decoder.Block {
		b := &decoder.Block{Addr: addr, End: addr + 4*uint64(n), Mode: m, Class: c, N: uint16(n), Lens: bytes.Repeat([]byte{4}, n)}
		return b
	}
	a := block(0x1000, isa.ModeA64, isa.Cond, 2)
	r := block(0x1008, isa.ModeA64, isa.FarReturn, 1)
	b := block(0x100c, isa.ModeA64, isa.Jump, 3)
	thumb := block(0x1014, isa.ModeT32, isa.Jump, 1)
	batch := decoder.Batch{Stamps: []decoder.Stamp{{}}, Ranges: []decoder.BatchRange{{Block: a, N: 2}, {Block: r, N: 1}, {Block: b, N: 2}, {Block: thumb, N: 1}}}
	for _, x := range []struct {
		silent bool
		want   string
	}{
		{false, "10 A64 0000000000001000 0000000000001014 5\n10 T32 0000000000001014 0000000000001018 1\n"},
		{true, "10 A64 0000000000001000 000000000000100c 3\n10 A64 000000000000100c 0000000000001014 2\n10 T32 0000000000001014 0000000000001018 1\n"},
	} {
		var out bytes.Buffer
		sink, _, _ := New(nobody{}, []rows.Stream{{CPU: -1, TID: -1, ID: "10", SilentReturns: x.silent}}, nil, &out, Options{Format: FormatNamed("runs")})
		if err := sink.Flow(&batch); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != x.want {
			t.Errorf("silent %t:\n%swant\n%s", x.silent, out.String(), x.want)
		}
	}
}
