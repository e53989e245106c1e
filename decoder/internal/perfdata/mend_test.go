package perfdata

import (
	"slices"
	"testing"
)

// TestMend would catch damage to a record's header or lengths that takes other records
// with it, or that is not told. In each round one byte of one header is changed. A
// TEXT_POKE and AUX data must come through whole, whichever byte it is. Only a type that
// has become another one goes unseen.
func TestMend(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke}
	who := func(time uint64) []byte { return a.trailer(ident{pid: 7, tid: 7, time: time, cpu: 1}) }
	var data []byte
	var starts []int
	add := func(b []byte) { starts, data = append(starts, len(data)), append(data, b...) }
	for i := range uint64(4) {
		add(record(TypeComm, 0, int32(7), int32(7), "before\x00\x00", who(10+i)))
	}
	poke := len(starts)
	add(record(TypeTextPoke, 0, uint64(0xffffffff81000000), uint16(5), uint16(5), "abcdeABCDE\x00\x00", who(20)))
	for i := range uint64(4) {
		add(record(TypeComm, 0, int32(7), int32(7), "between\x00", who(30+i)))
	}
	trace := []byte("\x02\x82\x02\x82 not records")
	aux := len(starts)
	add(auxtrace(0, 0, -1, 1, append(trace, make([]byte, -len(trace)&7)...)))
	for i := range uint64(4) {
		add(record(TypeComm, 0, int32(7), int32(7), "after\x00\x00\x00", who(40+i)))
	}
	for _, k := range []int{1, poke, poke + 1, aux, aux + 1} {
		for _, at := range []int{0, 1, 2, 3, 6, 7} {
			for _, bit := range []byte{0x20, 0x40} {
				if at == 0 && (bit == 0x40 && k != aux || k != poke && k != aux) {
					continue // another type, or one that may have come later: nothing tells
				}
				bad := slices.Clone(data)
				bad[starts[k]+at] ^= bit
				r := fromBytes(t, file{attrs: []tattr{a}, data: bad}.bytes())
				n := r.Counts()
				found, _ := r.Trouble()
				if n[TypeComm] < 11 || n[TypeTextPoke] != 1 || len(r.Streams()) != 1 || len(found) == 0 {
					t.Errorf("record %d, byte %d, bit %#x: %v, %d streams, trouble %v", k, at, bit, n, len(r.Streams()), found)
				}
			}
		}
	}
}
