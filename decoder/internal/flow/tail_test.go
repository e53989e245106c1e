package flow

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// tailText is a loop, and behind it a jump that goes where the trace states.
var tailText = &testText{addr: 0x1000, bytes: []byte("\x75\xfe\x90\xff\xe0\x90")} // jne 0; nop; jmp *%rax

// tailTrace goes round the loop and jumps back to it, so that some batches have many
// stated targets and some have none. Interrupts confirm the flow and contradictions come
// between, and so do payloads.
func tailTrace(rnd *rand.Rand) events {
	evs := events{syncAt(0x1000)}
	for range 300 {
		longest := 1 << 5
		if rnd.IntN(30) == 0 {
			longest = 1 << 11
		}
		for n := rnd.IntN(longest); n > 0; n -= 64 {
			evs = append(evs, bits(strings.Repeat("t", min(n, 64))))
		}
		switch evs = append(evs, bits("n")); rnd.IntN(40) {
		case 0:
			evs = append(evs, async(0x1002, 0x1000))
		case 1:
			evs = append(evs, impossible(0x1000))
		case 2:
			for range rnd.IntN(1 << rnd.IntN(11)) {
				evs = append(evs, event.Event{Kind: event.Payload})
			}
			fallthrough
		default:
			if evs = append(evs, to(0x1000)); rnd.IntN(4) == 0 {
				evs = append(evs, event.Event{Kind: event.Payload})
			}
		}
	}
	for i := range evs {
		evs[i].Off = int64(i)
	}
	return append(evs, end())
}

// tailRow is an instruction that was executed, or a note.
type tailRow struct {
	ip, off int64
	verdict Verdict
	note    int // 0: an instruction; else its kind, from 1 on
}

// tailRows takes flow apart, so that it does not matter how it is cut into batches.
type tailRows []tailRow

func (l *tailRows) Flow(b *Batch) error {
	for n, r := range b.All() {
		if n != nil {
			*l = append(*l, tailRow{int64(n.IP), n.Event.Off + n.Gap.Off, n.Verdict, 1 + int(n.Kind)})
			continue
		}
		for k := range int(r.N) {
			*l = append(*l, tailRow{int64(r.Block.Addr) + int64(r.Block.size(k)), b.Stamps[r.Stamp].Off, r.Verdict, 0})
		}
	}
	return nil
}

// TestTail would catch flow that is handed on too early, twice or not at all where the end
// of a batch stays in it. It would also catch stamps and notes that do not go with their
// ranges. A walker that holds each batch whole has to say the same.
func TestTail(t *testing.T) {
	tails, whole, doubted := 0, 0, 0
	for seed := range uint64(testsize.Of(t, 12, 24)) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		evs := tailTrace(rnd)
		most := []int{1 << 18, 5000, 700}[seed%3]
		var got [3]tailRows
		for i := range got {
			w := testWalker(tailText)
			w.exec.out.wait.most, w.exec.out.wait.whole, w.careful = most, i > 0, i == 2
			w.exec.out.wait.probe = func(s stretch, m *marks) {
				at, n := s.backOver(heldBack, w.exec.out.wait.told)
				if n != s.stated || n == heldBack && m.oldest()+1 != at {
					t.Errorf("seed %d: %d stated targets counted, the oldest of the last at %d; want %d, behind %d", seed, s.stated, m.oldest(), n, at)
				}
				switch {
				case s.kept.ranges > 0:
					tails++
				case i == 0:
					whole++
				}
			}
			if i == 0 && seed%2 == 0 {
				w.paths.misses = pathAfter
			}
			for range 2 {
				src := slices.Clone(evs)
				got[i] = nil
				if err := w.Run(&src, &got[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, s := range got[0] {
			if s.verdict == Ambiguous {
				doubted++
			}
		}
		for i, other := range got[1:] {
			if !slices.Equal(got[0], other) {
				at := 0
				for at < min(len(got[0]), len(other)) && got[0][at] == other[at] {
					at++
				}
				t.Fatalf("seed %d, at %d: %v with tails, %v for walker %d", seed, at, got[0][at:min(at+3, len(got[0]))], other[at:min(at+3, len(other))], i+1)
			}
		}
	}
	if part := testsize.Of(t, 2, 1); tails < 200/part || whole < 200/part || doubted < 1000/part {
		t.Errorf("%d batches with tails, %d without, %d instructions in doubt: too few to say anything", tails, whole, doubted)
	}
}

// TestStampAll would catch a range of a path that is left without a stamp, or one behind it
// that gets it.
func TestStampAll(t *testing.T) {
	for n := range pathRanges {
		var rs [pathRanges]Range
		stampAll(rs[:n], 7)
		for i := range rs {
			if (rs[i].Stamp == 7) != (i < n) {
				t.Errorf("%d ranges: the stamp of range %d is %d", n, i, rs[i].Stamp)
			}
		}
	}
}
