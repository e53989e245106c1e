package etmv3

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
)

// BenchmarkDecoder decodes a real stream.
func BenchmarkDecoder(b *testing.B) {
	decoding.Benchmark(b, tracetest.Recorded(b, coresight.ETMv3)[0])
}

// decoding is the decoder for the tests that several protocols share, of an ETMv3.5.
var decoding = tracetest.NewV3("etmv3", coresight.Config{
	Protocol: coresight.ETMv3, V3: coresight.ETMv3Registers{IDR: 0x410cf250},
}, Assemble, NewDecoder, newEntry)

// TestEvents would catch packets that together mean something else: a wrong address,
// outcome, order, time or place in the stream. It would catch a segment that tells what
// the one before has told, or leaves out what it has not. So it would one whose bounds
// are not whole timestamps on the right side of it.
func TestEvents(t *testing.T) { decoding.Situations(t) }

// FuzzDecoder decodes any bytes under a few configurations. It would catch a
// panic, events without end, offsets that fall, times that cross, segments
// that leave bytes out, and a Decoder whose state survives Reset.
func FuzzDecoder(f *testing.F) { decoding.Fuzz(f, decoding.V3Config) }

// TestRecordings decodes whole recordings, and in segments of other lengths. It would
// catch a packet order of real processors that the decoder takes for a fault, and an
// I-sync at another address than the branch before it led to. So it would time that
// goes back where the timestamps do not, and a bound that is not one. It would catch
// state that a sync point should have ended, state lost at one, and an allocation in
// Reset or Next.
func TestRecordings(t *testing.T) { decoding.Recorded(t, 1, 10) }
