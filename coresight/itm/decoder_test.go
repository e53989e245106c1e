package itm

import (
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// decoding is the decoder for the tests that several protocols share.
var decoding = tracetest.NewUncut("itm", coresight.ITM, assemble, NewDecoder, Plan, payload)

// payload writes a Payload short: detail, value, and what else is there.
func payload(e *event.Event) string {
	switch e.Detail {
	case event.DetailTimestamp:
		return fmt.Sprintf("global 0x%x flags 0x%x", e.Value, e.Value2)
	case event.DetailLocalTimestamp:
		return fmt.Sprintf("local %d, +%d flags 0x%x", e.Value, e.Value2&event.LTTicks, e.Value2>>40)
	}
	return fmt.Sprintf("%v %d: 0x%x size %d flags 0x%x", e.Detail, e.Value2&0xffff, e.Value, e.Value2>>32&0xff, e.Value2>>40)
}

// Catches a page, a sum of time or a loss carried over where it should not be,
// or lost where it should; the numbers are worked out by hand.
func TestDecoder(t *testing.T) { decoding.Situations(t) }

// Catches a sync point that is missed because it lies where two windows of the
// search meet, and bytes before it that are not counted.
func TestPlan(t *testing.T) {
	decoding.FindsFirst(t, 0xff, []byte(syncPattern+"\x70"))
}

// Catches an allocation in Reset or Next.
func TestDecoderAllocatesNothing(t *testing.T) { decoding.AllocatesNothing(t) }

// FuzzDecoder decodes any bytes. It would catch a panic, events without end,
// offsets that fall, and a Decoder whose state survives Reset.
func FuzzDecoder(f *testing.F) {
	decoding.Fuzz(f, func(how uint8) coresight.DecoderConfig {
		c := decoding.Config(0, 0)
		c.Trace.ITM.TCR = uint32(how) << 4
		return c
	})
}
