package wire

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// Catches an A-sync that is taken too short or too long, and one that is not
// told from one cut short.
func TestASync(t *testing.T) {
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	for _, c := range []struct {
		buf string
		n   int // zeros of the A-sync
		cut bool
	}{
		{"", 0, true}, {"\x80", 0, false}, {zeros(4) + "\x80", 0, false}, {zeros(4), 0, true},
		{zeros(5) + "\x80\x00", 5, false}, {zeros(5), 0, true}, {zeros(5) + "\x81", 0, false}, {zeros(MaxZeros) + "\x80", MaxZeros, false},
		{zeros(MaxZeros+1) + "\x80", 0, false}, {zeros(MaxZeros), 0, true}, {zeros(MaxZeros + 1), 0, false},
	} {
		if n, cut := ASync([]byte(c.buf)); n != c.n || cut != c.cut {
			t.Errorf("%x: %d, %v, want %d, %v", c.buf, n, cut, c.n, c.cut)
		}
	}
}

// Catches zeros before a stream's first A-sync that are told as bytes not
// understood, and others that are taken for part of it.
func TestFirstASync(t *testing.T) {
	for _, c := range []struct {
		before     string
		first, off int64
	}{
		{"", 0, 0}, {"\x00\x00", 0, 2}, {"\x01", 1, 1}, {"\x00\x01\x00", 3, 3}, {"\x01\x00", 2, 2},
		{strings.Repeat("\x00", MaxZeros-Zeros), 0, MaxZeros - Zeros},
		{strings.Repeat("\x00", MaxZeros-Zeros+1), MaxZeros - Zeros + 1, MaxZeros - Zeros + 1},
	} {
		buf := Whole(c.before + "\x00\x00\x00\x00\x00\x80\x08")
		if first, off, ok := FirstASync(buf, int64(len(buf))); !ok || first != c.first || off != c.off {
			t.Errorf("%x: %d, %d, %v, want %d, %d", []byte(buf), first, off, ok, c.first, c.off)
		}
	}
	if first, _, ok := FirstASync(Whole(make([]byte, 9)), 9); ok || first != 9 {
		t.Errorf("no A-sync: %d, %v", first, ok)
	}
}

// Catches an A-sync that is missed where two windows meet.
func TestNextASyncAcrossWindows(t *testing.T) {
	for at := firstWindow - 12; at < firstWindow+12; at++ {
		buf := append(bytes.Repeat([]byte{1}, at), 0, 0, 0, 0, 0, 0x80)
		if off, ok := NextASync(Whole(buf), 0, int64(len(buf))); !ok || off != int64(at) {
			t.Errorf("at %d: %d, %v", at, off, ok)
		}
		if off, ok := NextASync(Whole(buf[:len(buf)-1]), 0, int64(len(buf))-1); ok || off != int64(len(buf))-1 {
			t.Errorf("cut, at %d: %d, %v", at, off, ok)
		}
	}
}

// Catches a timestamp whose bits are replaced in the wrong place or in the
// wrong code, and one that is taken for known too early.
func TestStamp(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, s := range []Stamp{{}, {Wide: true}, {Gray: true}, {Wide: true, Gray: true}} {
		whole, width := uint8(7), 48
		if s.Wide {
			whole, width = 9, 64
		}
		now := uint64(0)
		for i := range 20_000 {
			n := uint8(1 + r.IntN(int(whole)))
			if i == 0 {
				n = whole
			}
			next := now&^(1<<(7*n)-1) | r.Uint64()&(1<<(7*n)-1)
			sent := next
			if n == whole {
				next = r.Uint64() >> (64 - width)
				sent = next | r.Uint64()&^(^uint64(0)>>(64-width)) // bits beyond mean nothing
			}
			if s.Gray {
				// Low bits of the code replaced, not of the number.
				next = Binary(next)
			}
			if got := s.Update(sent, n); got != next || !s.Known() {
				t.Fatalf("%+v: %d bytes 0x%x after 0x%x: 0x%x, want 0x%x", s, n, sent, now, got, next)
			}
			now = next
			if s.Gray {
				now = Code(next)
			}
		}
		if s.Update(0, whole); s.Known() {
			t.Errorf("%+v: known though the trace unit knows none", s)
		}
		if s.Update(5, 1); !s.Known() {
			t.Errorf("%+v: not known again", s)
		}
		s.Reset()
		if s.Update(5, 1); s.Known() {
			t.Errorf("%+v: known from one byte", s)
		}
	}
}

// TestSqueeze would catch a bit of an address byte that is lost or displaced: the
// slow twin takes the bytes one by one.
func TestSqueeze(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 100_000 {
		w := r.Uint64() & AddressBits
		var want uint64
		for i := range 5 {
			want |= w >> (8 * i) & 0xff << (7 * i)
		}
		if got := Squeeze(w); got != want {
			t.Fatalf("%010x: %09x, want %09x", w, got, want)
		}
	}
}
