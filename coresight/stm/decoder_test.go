package stm

import (
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// payload writes a Payload short: detail, value, and what else is there.
func payload(e *event.Event) string {
	switch e.Detail {
	case event.DetailTimestamp:
		return fmt.Sprintf("  at 0x%x unknown %d", e.Value, e.Value2>>8)
	case event.DetailSTPSync:
		return fmt.Sprintf("version %d", e.Value)
	}
	return fmt.Sprintf("%v 0x%x of %d:%d size %d flags 0x%x", e.Detail, e.Value, e.Value2>>16&0xffff, e.Value2&0xffff, e.Value2>>32&0xff, e.Value2>>40)
}

// decoding is the decoder for the tests that several protocols share.
var decoding = tracetest.NewUncut("stm", coresight.STM, assemble, NewDecoder, Plan, payload)

// Catches a master, channel or timestamp carried over where it should not be,
// or lost where it should; the numbers are worked out by hand.
func TestDecoder(t *testing.T) { decoding.Situations(t) }

// Catches a sync point that is missed because it lies where two windows of the
// search meet, and bytes before it that are not counted.
func TestPlan(t *testing.T) {
	decoding.FindsFirst(t, 0, pack(digits("1"+specs[Async].code+"00000")))
}

// Catches an allocation in Reset or Next.
func TestDecoderAllocatesNothing(t *testing.T) { decoding.AllocatesNothing(t) }

// FuzzDecoder decodes any bytes. It would catch a panic, events without end,
// offsets that fall, and a Decoder whose state survives Reset.
func FuzzDecoder(f *testing.F) {
	decoding.Fuzz(f, func(uint8) coresight.DecoderConfig { return decoding.Config(0, 0) })
}
