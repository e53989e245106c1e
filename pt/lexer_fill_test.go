package pt

import (
	"math/rand/v2"
	"testing"
)

// sameBatches compares what Lexer.Fill reads of buf, n packets at a time, with what Next reads.
func sameBatches(t *testing.T, buf []byte, n int) {
	t.Helper()
	one, many := NewLexer(buf, 7), NewLexer(buf, 7)
	q := make([]Packet, n)
	for i, got := 0, n; got == n; {
		got = many.Fill(q)
		for _, p := range q[:got] {
			var want Packet
			if !one.Next(&want) || p != want {
				t.Fatalf("packet %d, %d at a time: got %+v, want %+v", i, n, p, want)
			}
			i++
		}
		if many.Off() != one.Off() {
			t.Fatalf("behind packet %d, %d at a time: at %d, want %d", i, n, many.Off(), one.Off())
		}
	}
	if p := (Packet{}); one.Next(&p) {
		t.Fatalf("%d at a time: ends before %+v", n, p)
	}
}

// TestBatchIsNext would catch packets that are others when many are read at a time. It looks
// where a PSB+ is cut short, where its packets follow in another order, where blocks of
// items begin and end. It looks where a PSB+ has other bytes than the one before, and at what real processors send as well.
func TestBatchIsNext(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 17))
	cases := packets.Cases(t)
	for range 2_000 {
		buf := []byte(psb)
		for range 1 + r.IntN(30) {
			buf = append(buf, cases[r.IntN(len(cases))].Bytes...)
		}
		for range r.IntN(4) {
			buf[r.IntN(len(buf))] = byte(r.Uint32())
		}
		sameBatches(t, buf[:len(buf)-r.IntN(16)], 1+r.IntN(9))
	}
	units := []string{
		psb + "\x99\x20\x00\x00\x00\x00\x02\x43\x01\x90\x8c\x04\x00\x00\x00\x00\x02\x03\x26\x00\x02\x23",
		psb + "\x00\x00\x00\x99\x20\x99\x01\x7d\x01\x02\x03\x04\x05\x06\x02\xc8\xee\x56\x3b\x00\x00\x02\x23", psb, "\x02\x23", "\x56\x2d\x01\x02", "\x02\x63\x80",
	}
	for range 4_000 { // PSB+ again and again, some of them with another byte
		var buf []byte
		for range 2 + r.IntN(10) {
			buf = append(buf, units[r.IntN(min(len(units), 1+r.IntN(12)))]...)
		}
		for range r.IntN(2) {
			buf[r.IntN(len(buf))] ^= 1 << r.IntN(8)
		}
		sameBatches(t, buf[:len(buf)-r.IntN(3)], 1+r.IntN(60))
	}
	eachRecorded(t, func(_ string, buf []byte) { sameBatches(t, buf, 256) })
}
