package tracetest

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// Decoding is a protocol's decoder as the tests that several protocols share see it.
type Decoding struct {
	Name     string           // of the file in testdata/events
	Trace    coresight.Config // the trace unit of the tests
	New      func(c coresight.DecoderConfig, seg event.Segment) packettest.Decoder
	Segments func(buf []byte, c coresight.DecoderConfig, least int64) (segs []event.Segment, first int)
	Assemble func(dst []byte, text string) ([]byte, error)
	Payload  func(e *event.Event) string // how situations write a Payload, and others as short as can be; nil: all as Show does
}

// NewV3 returns the Decoding of ETMv3 or PTM, of what makes its bytes, its decoders and
// the Entry of its segments.
func NewV3[C decoderConfig, D packettest.Decoder](name string, trace coresight.Config, assemble func(dst []byte, text string) ([]byte, error),
	decoder func(c C, seg event.Segment) D, entry func(c C) v3.Entry,
) Decoding {
	return Decoding{
		Name: name, Trace: trace, Assemble: assemble,
		New: func(c coresight.DecoderConfig, seg event.Segment) packettest.Decoder { return decoder(C(c), seg) },
		Segments: func(buf []byte, c coresight.DecoderConfig, least int64) ([]event.Segment, int) {
			segs, first := v3.Plan(wire.Whole(buf), int64(len(buf)), 7, least, entry(C(c)))
			return filled(segs, buf), int(first)
		},
	}
}

// filled gives segments the bytes of buf, their stream.
func filled(segs []event.Segment, buf []byte) []event.Segment {
	for i := range segs {
		segs[i].Buf = buf[segs[i].Off:]
	}
	return segs
}

// NewUncut returns the Decoding of a protocol whose streams are not cut.
func NewUncut[D packettest.Decoder](name string, p coresight.Protocol, assemble func(dst []byte, text string) ([]byte, error),
	decoder func(c coresight.Config, seg event.Segment) D, plan func(src event.Bytes, size int64, stream int) ([]event.Segment, int64), payload func(e *event.Event) string,
) Decoding {
	return Decoding{
		Name: name, Trace: coresight.Config{Protocol: p}, Assemble: assemble, Payload: payload,
		New: func(c coresight.DecoderConfig, seg event.Segment) packettest.Decoder { return decoder(c.Trace, seg) },
		Segments: func(buf []byte, _ coresight.DecoderConfig, _ int64) ([]event.Segment, int) {
			segs, first := plan(wire.Whole(buf), int64(len(buf)), 7)
			return filled(segs, buf), int(first)
		},
	}
}

// decoderConfig is a type of a protocol's own with the fields of
// coresight.DecoderConfig.
type decoderConfig interface {
	~struct {
		Trace    coresight.Config
		TimeConv event.TimeConv
		Ahead    bool
	}
}

// filler is a decoder that can also give many events at a time.
type filler interface {
	Fill(q []event.Event) int
}

// Whole is the segment that is all of buf.
func Whole(buf []byte) event.Segment {
	return event.Segment{End: int64(len(buf)), Buf: buf, Time: event.Always, Last: true, Starts: true}
}

// Config returns the Config of the tests' trace unit, with bits of ETMCR and ETMCCER
// set.
func (x *Decoding) Config(cr, ccer uint32) coresight.DecoderConfig {
	c := coresight.DecoderConfig{Trace: x.Trace, Ahead: true}
	c.Trace.V3.CR |= cr
	c.Trace.V3.CCER |= ccer
	return c
}

// Bytes returns the bytes of packets in their text form.
func (x *Decoding) Bytes(tb testing.TB, text string) []byte {
	tb.Helper()
	buf, err := x.Assemble(nil, text)
	if err != nil {
		tb.Fatal(err)
	}
	return buf
}

// Events returns the events of a segment.
func (x *Decoding) Events(tb testing.TB, c coresight.DecoderConfig, seg event.Segment) []event.Event {
	tb.Helper()
	return Events(tb, x.New(c, seg), seg)
}

// settings are the words by which a situation says how the trace unit was set up.
var settings = map[string]func(c *coresight.DecoderConfig){
	"cycles":     func(c *coresight.DecoderConfig) { c.Trace.V3.CR |= crCycles },
	"context4":   func(c *coresight.DecoderConfig) { c.Trace.V3.CR |= crContext4 },
	"timestamps": func(c *coresight.DecoderConfig) { c.Trace.V3.CR |= CRTimestamps },
	"data":       func(c *coresight.DecoderConfig) { c.Trace.V3.CR |= crData },
	"dataonly":   func(c *coresight.DecoderConfig) { c.Trace.V3.CR |= 1 << 20 },
	"natural":    func(c *coresight.DecoderConfig) { c.Trace.V3.CCER |= CCERNatural },
	"wide":       func(c *coresight.DecoderConfig) { c.Trace.V3.CCER |= ccerWide },
	"prescaled":  func(c *coresight.DecoderConfig) { c.Trace.ITM.TCR |= 0x310 }, // SWOENA, TSPrescale 3
	"profile-m": func(c *coresight.DecoderConfig) {
		c.Trace.V3.IDR |= idrAlternative
		c.Trace.Arch.Profile = 'M'
	},
	"ns": func(c *coresight.DecoderConfig) {
		c.TimeConv = event.TimeConv{Shift: 1, Mult: 4, Zero: 1000, Valid: true}
	},
}

// Bits of ETMCR, ETMCCER and ETMIDR of ETMv3 and PTM.
const (
	crCycles     = 1 << 12
	crContext4   = 3 << 14
	CRTimestamps = 1 << 28
	crData       = 3 << 2
	CCERNatural  = 1 << 28
	ccerWide     = 1 << 29

	idrAlternative = 1 << 20
)

// situation is a part of testdata/events/NAME.txt: packets, and the events that they
// make. It begins with a line
//
//	== name [setting...]
//
// of which the settings are words of the map. The word cut has the stream cut into the
// shortest segments, each with a line that says where it begins. The word plan has
// these lines alone, and times in them. A line -- parts packets and events.
type situation struct {
	name     string
	settings []string
	packets  string
	events   []string
}

// situations returns those of the protocol's file.
func (x *Decoding) situations(tb testing.TB) (list []situation) {
	tb.Helper()
	data, err := os.ReadFile("../../testdata/events/" + x.Name + ".txt")
	if err != nil {
		tb.Fatal(err)
	}
	_, all, _ := strings.Cut("\n"+string(data), "\n== ")
	for _, part := range strings.Split(all, "\n== ") {
		head, body, _ := strings.Cut(part, "\n")
		packets, want, ok := strings.Cut(body, "\n--\n")
		words := strings.Fields(head)
		if !ok || len(words) == 0 {
			tb.Fatalf("%q: need a name, packets, a line -- and events", head)
		}
		list = append(list, situation{words[0], words[1:], packets, strings.Split(strings.TrimSpace(want), "\n")})
	}
	return list
}

// Situations fails the test where the packets of a situation make other events.
func (x *Decoding) Situations(t *testing.T) {
	for _, s := range x.situations(t) {
		t.Run(s.name, func(t *testing.T) {
			c, render := x.Config(0, 0), x.lines
			for _, w := range s.settings {
				switch set := settings[w]; {
				case w == "cut":
					render = x.cutLines
				case w == "plan":
					render = x.planLines
				case set != nil:
					set(&c)
				default:
					t.Fatalf("no setting %q", w)
				}
			}
			if d := cmp.Diff(s.events, render(t, c, x.Bytes(t, s.packets))); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// lines returns the events of a stream, one in each.
func (x *Decoding) lines(t *testing.T, c coresight.DecoderConfig, buf []byte) (lines []string) {
	t.Helper()
	for _, e := range x.Events(t, c, Whole(buf)) {
		switch {
		case x.Payload == nil:
			lines = append(lines, Show(&e))
		case e.Kind == event.Payload:
			lines = append(lines, x.Payload(&e))
		case e.Kind == event.Trouble:
			lines = append(lines, e.Reason.String())
		default:
			lines = append(lines, e.Kind.String())
		}
	}
	return lines
}

// cutLines is lines of a stream that is cut.
func (x *Decoding) cutLines(t *testing.T, c coresight.DecoderConfig, buf []byte) (lines []string) {
	t.Helper()
	segs, _ := x.Segments(buf, c, 0)
	for _, s := range segs {
		line := fmt.Sprintf("segment at %d", s.Off)
		if s.Last {
			line += ", the last"
		}
		lines = append(lines, line)
		for _, e := range x.Events(t, c, s) {
			lines = append(lines, Show(&e))
		}
	}
	return lines
}

// planLines returns where each segment of a stream begins, and its time.
func (x *Decoding) planLines(t *testing.T, c coresight.DecoderConfig, buf []byte) (lines []string) {
	t.Helper()
	segs, _ := x.Segments(buf, c, 0)
	for _, s := range segs {
		line := fmt.Sprintf("segment at %d @%d", s.Off, s.Time.Lo)
		if s.Time.Hi != math.MaxUint64 {
			line += fmt.Sprintf(" -%d", s.Time.Hi)
		}
		lines = append(lines, line)
	}
	return lines
}

// Recorded decodes the recorded streams of the trace unit's protocol whole, and in
// segments of other lengths. Of each segment but the first, again events repeat what
// was said. There must be least places where streams are cut.
func (x *Decoding) Recorded(t *testing.T, again, least int) {
	cut := 0
	x.EachRecorded(t, func(s Stream, c coresight.DecoderConfig) {
		events := func(least int64) (lists [][]event.Event) {
			segs, _ := x.Segments(s.Buf, c, least)
			for _, g := range segs {
				lists = append(lists, x.Events(t, c, g))
			}
			return lists
		}
		Orderly(t, events(0))
		cut += Seams(t, again, events)
		segs, _ := x.Segments(s.Buf, c, 0)
		d := x.New(c, segs[0])
		for _, g := range segs {
			want := x.Events(t, c, g)
			for _, room := range []int{1, 2, 3, 7, 300} {
				x.fills(t, d, g, room, want)
			}
		}
		packettest.AllocatesNothing(t, d, segs...)
	})
	if cut < least {
		t.Errorf("%d seams only: they are what this is about", cut)
	}
}

// V3Config returns the Config of an ETMv3 or PTM that how sets up.
func (x *Decoding) V3Config(how uint8) coresight.DecoderConfig {
	cr := uint32(how&1)*crCycles | uint32(how>>1&1)*crContext4 | uint32(how>>2&1)*CRTimestamps
	c := x.Config(cr, uint32(how>>3&3)<<28)
	c.Ahead = how&0x20 != 0
	if x.Trace.Protocol == coresight.ETMv3 {
		c.Trace.V3.CR |= uint32(how>>2&1) * crData
		if how&0x18 == 0x18 {
			settings["profile-m"](&c)
		}
	}
	return c
}

// Fuzz decodes any bytes as Hold does, set up as config says. The seeds are the packets
// of the situations. Two bits of how also decide how long segments are.
func (x *Decoding) Fuzz(f *testing.F, config func(how uint8) coresight.DecoderConfig) {
	f.Helper()
	for _, s := range x.situations(f) {
		for how := range uint8(8) {
			f.Add(x.Bytes(f, s.packets), how*37)
		}
	}
	f.Fuzz(func(t *testing.T, buf []byte, how uint8) {
		x.Hold(t, config(how), buf, int64(how>>6)*20, 1+int(how%7))
	})
}

// EachRecorded calls f for each recorded stream of the trace unit's protocol.
func (x *Decoding) EachRecorded(tb testing.TB, f func(s Stream, c coresight.DecoderConfig)) {
	tb.Helper()
	for _, s := range Recorded(tb, x.Trace.Protocol) {
		f(s, coresight.DecoderConfig{Trace: s.Config, Ahead: true})
	}
}

// fills fails the test where Fill, asked for room events at a time, gives others than
// want; a decoder without Fill does not.
func (x *Decoding) fills(tb testing.TB, d packettest.Decoder, seg event.Segment, room int, want []event.Event) {
	tb.Helper()
	f, ok := d.(filler)
	if !ok {
		return
	}
	q := make([]event.Event, room)
	d.Reset(seg)
	var got []event.Event
	for n := room; n == room; {
		n = f.Fill(q)
		got = append(got, q[:n]...)
	}
	if !slices.Equal(got, want) {
		tb.Fatalf("segment %d, room for %d, by Fill: %.2000s", seg.Index, room, cmp.Diff(want, got))
	}
}

// FindsFirst fails the test where a stream that is not cut begins elsewhere than at its
// first sync point, which sync is. One may lie where two windows of the search meet.
// Before it stand bytes of the value before.
func (x *Decoding) FindsFirst(t *testing.T, before byte, sync []byte) {
	t.Helper()
	for at := range 13 << 10 { // past the second window
		buf := append(bytes.Repeat([]byte{before}, at), sync...)
		segs, first := x.Segments(buf, x.Config(0, 0), 0)
		if len(segs) != 1 || first != at || segs[0].Off != int64(at) || segs[0].End != int64(len(buf)) || segs[0].Stream != 7 {
			t.Errorf("at %d: first %d, %+v", at, first, segs)
		}
	}
	if segs, first := x.Segments(make([]byte, 100), x.Config(0, 0), 0); len(segs) != 0 || first != 100 {
		t.Errorf("no sync point: first %d, %d segments", first, len(segs))
	}
}

// AllocatesNothing fails the test where a decoder allocates for the packets of the
// situations.
func (x *Decoding) AllocatesNothing(t *testing.T) {
	t.Helper()
	var segs []event.Segment
	for _, s := range x.situations(t) {
		segs = append(segs, Whole(x.Bytes(t, s.packets)))
	}
	packettest.AllocatesNothing(t, x.New(x.Config(0, 0), segs[0]), segs...)
}

// Hold fails the test where segments of at least least bytes leave out bytes of buf. It
// fails where a decoder that has been used gives other events of them, or of the whole,
// than a new one. So it does where Fill, asked for room events at a time, gives others.
func (x *Decoding) Hold(t *testing.T, c coresight.DecoderConfig, buf []byte, least int64, room int) {
	t.Helper()
	segs, first := x.Segments(buf, c, least)
	at := int64(first)
	for _, s := range segs {
		if s.Off != at {
			t.Fatalf("segment %d begins at %d, want %d", s.Index, s.Off, at)
		}
		at = s.End
	}
	if at != int64(len(buf)) {
		t.Fatalf("segments end at %d of %d", at, len(buf))
	}
	d := x.New(c, Whole(buf))
	for range 2 { // the first time from any state
		var e event.Event
		for d.Next(&e) {
		}
	}
	for _, s := range append(segs, Whole(buf)) {
		fresh := x.Events(t, c, s)
		packettest.Resets(t, d, s, fresh)
		x.fills(t, d, s, room, fresh)
	}
}

// Benchmark decodes a recorded stream, as many events at a time as the protocol can.
func (x *Decoding) Benchmark(b *testing.B, s Stream) {
	c := coresight.DecoderConfig{Trace: s.Config, Ahead: true}
	segs, _ := x.Segments(s.Buf, c, 4096)
	d := x.New(c, segs[0])
	f, fills := d.(filler)
	b.SetBytes(int64(len(s.Buf)))
	q := make([]event.Event, 256)
	for b.Loop() {
		for _, g := range segs {
			d.Reset(g)
			if fills {
				for f.Fill(q) == len(q) {
				}
				continue
			}
			for d.Next(&q[0]) {
			}
		}
	}
}
