package perfdata

import (
	"bytes"
	"slices"
	"testing"
)

// TestMendCode would catch a wrong byte of an address, or of the length of code that appears, that
// makes another change of it. Addresses of all kernels of 64 bits begin alike.
func TestMendCode(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke}
	who := func(time uint64) []byte { return a.trailer(ident{pid: 7, tid: 7, time: time, cpu: 1}) }
	poke := func(addr, time uint64, code string) []byte {
		return record(TypeTextPoke, MiscKernel, addr, uint16(0), uint16(len(code)), code, make([]byte, -(12+len(code))&7), who(time))
	}
	const addr, code = 0xffffffffc03d7000, "\x41\x55\xcc"
	data := slices.Concat(poke(addr-64, 10, code), poke(addr, 20, code), poke(addr+64, 30, code), poke(addr+128, 40, code))
	second := len(data) / 4
	for _, x := range []struct{ at, from int }{{15, 0}, {14, 0}, {18, 5}} {
		for b := x.from; b < 256; b++ {
			bad := slices.Clone(data)
			if bad[second+x.at] == byte(b) {
				continue
			}
			bad[second+x.at] = byte(b)
			r := fromBytes(t, file{attrs: []tattr{a}, data: bad}.bytes())
			n, right := 0, false
			rd := r.Records()
			for rec := (Record{}); rd.Next(&rec); {
				if rec.Type != TypeTextPoke {
					continue
				}
				n++
				p, err := rec.TextPoke()
				right = right || err == nil && p.Addr == addr && len(p.Old) == 0 && string(p.New) == code
			}
			if len(r.Hints().Guessed) == 0 || n != 4 || !right {
				found, _ := r.Trouble()
				t.Errorf("byte %d is %#x: %d changes, %v", x.at, b, n, found)
			}
		}
	}
}

// TestMendLastTrace would catch the last trace of a file that is lost for the most part, because
// its size is wrong and too small.
func TestMendLastTrace(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke}
	var data []byte
	for i := range uint64(4) {
		data = append(data, record(TypeSwitchCPUWide, 0x2000, int32(7), int32(8), a.trailer(ident{pid: 7, tid: 7, time: 10 + i, cpu: 1}))...)
	}
	at := len(data)
	trace := bytes.Repeat([]byte("\x02\x82\x02\x82 not a record here"), 64)
	data = append(data, auxtrace(0, 0, -1, 1, trace)...)
	data = append(data, record(TypeFinishedRound, 0)...)
	for _, size := range []uint64{0, 8, 16, 24, 100, 768, 1024} {
		bad := slices.Clone(data)
		le.PutUint64(bad[at+8:], size)
		r := fromBytes(t, file{attrs: []tattr{a}, data: bad}.bytes())
		found, _ := r.Trouble()
		if s := r.Streams(); len(s) != 1 || s[0].Size != int64(len(trace)) || r.Counts()[TypeFinishedRound] != 1 || r.Hints().CutShort {
			t.Errorf("size %d: %d streams, %v, %v", size, len(s), r.Counts(), found)
		}
	}
}
