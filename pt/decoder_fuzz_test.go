package pt

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// FuzzDecoder decodes any bytes under a few configurations. It would catch a
// panic, events without end, offsets that fall, times that cross, a Decoder
// whose state survives Reset, and events that bytes alone tell otherwise.
func FuzzDecoder(f *testing.F) {
	seeds := map[string][]Packet{
		"interrupt":   list(psbAt(0x1000, val(TSC, 1), val(TMA, 2)), tnt("t"), fup(1), val(PIP, 2), val(ModeExec, 1), val(MTC, 1), tip(2)),
		"overflow":    list(psbAt(0x1000), none(OVF), tnt("t"), val(CYC, 0x25), val(CYC, 0x1e), fup(1), pgd(1), pge(2)),
		"transaction": list(psbAt(0x1000), val(ModeTSX, 1), fup(1), val(ModeTSX, 2), fup(2), tip(3)),
		"sleep":       list(psbAt(0x1000), val(MWAIT, 1), val(PWRE, 2), withIP(none(EXSTOP)), fup(1), val(PWRX, 1)),
		"block":       list(psbAt(0x1000), val(BBP, 0x84), Packet{Kind: BIP, Arg: 3, N: 4}, withIP(none(BEP)), fup(1)),
		"event":       list(psbAt(0x1000), Packet{Kind: EVD, Value: 1}, Packet{Kind: CFE, Value: 1, Arg: 3}, fup(1), tip(2)),
		"waiting":     append(list(psbAt(0x1000), none(OVF)), repeat(val(CBR, 1), 60)...),
		"two psbs":    append(psbAt(0x1000, val(TSC, 1)), psbOff(val(TSC, 2))...),
	}
	for _, s := range seeds {
		f.Add(encode(s...), uint8(0))
		f.Add(encode(s...), uint8(0xff))
	}
	f.Fuzz(func(t *testing.T, buf []byte, how uint8) {
		c := Config{Ahead: how&1 != 0, MTCFreq: how >> 4, CTCNum: 80, CTCDen: 3, MaxNonTurboRatio: 20}
		c.TimeConv = event.TimeConv{Valid: how&4 != 0, Mult: 3 << 30, Shift: 31, Zero: 1 << 63}
		if how&2 != 0 {
			c.Model = Model{6, 94, 3}
		} else if how&4 != 0 {
			c.Model = Model{6, 0x5c, 0}
		}
		segs, first := segments(buf, 0, c, int64(how&8)*8)
		at := int64(first)
		d := NewDecoder(c, whole(buf))
		for range 2 { // the first time from any state
			var e event.Event
			for d.Next(&e) {
			}
		}
		for _, s := range append(segs, whole(buf)) {
			if s.Off == at {
				at = s.End
			}
			fresh := decode(t, c, s)
			packettest.Resets(t, d, s, fresh)
			if got, _, err := bytewise(NewDecoder(c, s), 16); err != nil {
				t.Fatal(err)
			} else if !slices.Equal(fresh, got) {
				t.Fatalf("-one by one +from bytes\n%s", cmp.Diff(fresh, got))
			}
			if n := len(fresh); n < 2 && s.Off != s.End {
				t.Fatalf("%d events", n)
			}
		}
		if at != int64(len(buf)) {
			t.Fatalf("segments end at %d of %d", at, len(buf))
		}
	})
}

// TestDecoderAllocatesNothing would catch an allocation in Reset or Next.
func TestDecoderAllocatesNothing(t *testing.T) {
	eachRecorded(t, func(_ string, buf []byte) {
		segs, _ := Segments(buf, 0, realConfig())
		segs = segs[:min(len(segs), 50)]
		d := NewDecoder(realConfig(), segs[0])
		packettest.AllocatesNothing(t, d, segs...)
	})
}

// TestSegmentLengths checks what recordings cannot show by themselves: a segmentation
// in other lengths tells the same flow. It would catch state that a sync point
// should have ended, and state lost at one. It takes the front of recordings, and
// the whole of them in its full form.
func TestSegmentLengths(t *testing.T) {
	eachRecorded(t, func(file string, buf []byte) {
		buf = buf[:min(len(buf), testsize.Of(t, 24<<10, len(buf)))]
		var want []string
		for _, size := range []int64{0, 5000, 1 << 30} {
			c := realConfig()
			segs, _ := segments(buf, 0, c, size)
			var got []string
			for i, s := range segs {
				for j, e := range decode(t, c, s) {
					switch e.Kind {
					case event.Sync: // told twice where segments meet; cut short by the stream's end it has no IP
						if i != 0 && j == 0 || !e.HasIP() {
							continue
						}
						e.Flags &^= event.FlagRestated
					case event.Payload, event.Context, event.End:
						continue
					}
					got = append(got, show(&e))
				}
			}
			if want == nil {
				want = got
			} else if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%s: segments of %d bytes: -short +long\n%.2000s", file, size, d)
			}
		}
	})
}
