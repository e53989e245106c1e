package stm_test

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/stm"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Each message of software is an event that says who wrote it: a master, and one of its
// channels.
func Example() {
	// Half bytes, the lower one first: ASYNC, VERSION 3, M8 1, C8 2, D32 0xcafe.
	const trace = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x0f\x0f\x30\x01\x31\x20\x06\x00\xc0\xfa\x0e"
	d := stm.NewDecoder(coresight.Config{}, event.Segment{Buf: []byte(trace), End: int64(len(trace)), Last: true})
	for e := (event.Event{}); d.Next(&e); {
		if e.Detail == event.DetailSoftware {
			fmt.Printf("master %d, channel %d: %#x\n", e.Value2>>event.SWMasterShift&0xffff, e.Value2>>event.SWChannelShift&0xffff, e.Value)
		}
	}
	// Output: master 1, channel 2: 0xcafe
}
