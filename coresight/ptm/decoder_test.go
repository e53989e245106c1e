package ptm

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// BenchmarkDecoder decodes a real stream.
func BenchmarkDecoder(b *testing.B) {
	decoding.Benchmark(b, tracetest.Snapshot(b, "tc2-ptm-rstk-t32", coresight.PTM)[0])
}

// decoding is the decoder for the tests that several protocols share, of PFT 1.1.
var decoding = tracetest.NewV3("ptm", coresight.Config{
	Protocol: coresight.PTM, V3: coresight.ETMv3Registers{IDR: 0x411cf312},
}, Assemble, NewDecoder, newEntry)

// TestEvents would catch packets that together mean something else: a wrong address,
// outcome, order, time or place in the stream. It would catch a segment that tells what
// the one before has told, or leaves out what it has not. So it would one whose bounds
// are not whole timestamps on the right side of it.
func TestEvents(t *testing.T) { decoding.Situations(t) }

// TestLateTimestamps would catch a bound that takes in what was executed before a
// timestamp. Where that is not of the waypoint before it, a packet behind it may
// tell of instructions before it.
func TestLateTimestamps(t *testing.T) {
	buf := decoding.Bytes(t, "async 5\nisync 0x1000 0x21\ntimestamp 7: 0x64\natom ee\natom n\ntimestamp 1: 0x6e\nbranch 1: 0x10\nbranch 1: 0x12\n"+
		"timestamp 1: 0x70\ntimestamp 1: 0x50\nwaypoint 1: 0x13\ntimestamp 7: 0x0\natom e")
	c := decoding.Config(tracetest.CRTimestamps, tracetest.CCERNatural)
	c.Trace.V3.IDR = 0x411cf301
	stamp := wire.Stamp{Gray: true}
	at := func(v uint64) uint64 { return stamp.Update(v, 7) }
	a, b, e, f := at(0x64), at(0x6e), at(0x70), at(0x50)
	want := []struct {
		kind event.Kind
		lo   uint64
	}{
		{event.Payload, a}, {event.Outcomes, 0}, {event.Outcomes, a}, {event.Payload, b},
		{event.Outcomes, a}, {event.Target, a}, {event.Outcomes, b}, {event.Target, b},
		{event.Payload, e}, {event.Payload, f}, {event.Reach, b}, {event.Payload, f}, {event.Outcomes, f}, {event.End, f},
	}
	list := decoding.Events(t, c, tracetest.Whole(buf))[5:]
	for i, w := range want {
		if i >= len(list) || list[i].Kind != w.kind || list[i].Time.Lo != w.lo {
			t.Errorf("event %d: %s, want %v @%d", i, tracetest.Show(&list[min(i, len(list)-1)]), w.kind, w.lo)
		}
	}
	if len(list) != len(want) {
		t.Errorf("%d events, want %d", len(list), len(want))
	}
}

// FuzzDecoder decodes any bytes under a few configurations. It would catch a
// panic, events without end, offsets that fall, times that cross, segments
// that leave bytes out, and a Decoder whose state survives Reset.
func FuzzDecoder(f *testing.F) { decoding.Fuzz(f, decoding.V3Config) }

// TestRecordings decodes whole recordings, and in segments of other lengths. It would
// catch a packet order of real processors that the decoder takes for a fault, and an
// I-sync at another address than the branch before it led to. So it would time that
// goes back where the timestamps do not, and a bound that is not one. It would catch
// state that a sync point should have ended, state lost at one, and an allocation in
// Reset or Next, and events that Fill gives otherwise.
func TestRecordings(t *testing.T) { decoding.Recorded(t, 2, 10) }
