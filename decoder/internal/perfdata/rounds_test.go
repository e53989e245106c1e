package perfdata

import (
	"slices"
	"testing"
)

// TestIncomplete would catch a time that is said to end the complete part of a
// cut file although something before it may be missing. It would also catch a
// time that is earlier than need be, and whole files taken for cut.
func TestIncomplete(t *testing.T) {
	round := record(TypeFinishedRound, 0)
	index := record(TypeIDIndex, 0, uint64(2), 77, 0, 0, -1, 78, 1, 1, -1)
	at := func(cpu int32, ns ...uint64) (b []byte) {
		for _, n := range ns {
			b = append(b, record(TypeComm, 0, int32(1), int32(1), name("a"), usual.trailer(ident{time: n, cpu: cpu}))...)
		}
		return b
	}
	all := func(b ...[]byte) []byte { return slices.Concat(b...) }
	for _, c := range []struct {
		what string
		data []byte
		want uint64
	}{
		{"no round, buffers not known", at(0, 10, 20, 30), 0},
		{"one round", all(at(0, 10, 20), round, at(0, 30, 40)), 0},
		{"two rounds", all(at(0, 10, 20), round, at(0, 30), round, at(0, 40, 50)), 20},
		{"three rounds", all(at(0, 10, 20), round, at(1, 15, 18), round, at(0, 30), round, at(0, 40)), 20},
		{"a buffer without a record", all(index, at(0, 10, 20)), 0},
		{"the older of two buffers", all(index, at(0, 10, 20), at(1, 12, 14)), 14},
		{"the rounds know more", all(index, at(1, 12), at(0, 10, 20), round, at(0, 30), round, at(0, 40)), 20},
	} {
		whole := file{attrs: []tattr{usual}, data: all(c.data, at(0, 60))}
		if r := fromBytes(t, whole.bytes()); r.Hints().Incomplete {
			t.Errorf("%s: whole, and said not to be", c.what)
		}
		b := whole.bytes()
		b = b[:len(b)-8]
		r := fromBytes(t, b)
		if h := r.Hints(); !h.Incomplete || h.CompleteTo != c.want {
			t.Errorf("%s: complete to %d (%t), want %d", c.what, h.CompleteTo, h.Incomplete, c.want)
		}
		p := whole.pipe()
		r = fromBytes(t, p[:len(p)-8])
		if h := r.Hints(); !h.Incomplete || h.CompleteTo != c.want {
			t.Errorf("%s: pipe: complete to %d (%t), want %d", c.what, h.CompleteTo, h.Incomplete, c.want)
		}
	}
}
