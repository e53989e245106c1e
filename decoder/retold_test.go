package decoder

import (
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestRetold would catch flow that is told out of what was decoded to learn, and differs from what decoding with
// the same code comes to. It would also catch learning that decodes more than it may, and flow that is decoded though it could be told. In
// the image, one site that ran has other code.
func TestRetold(t *testing.T) {
	const most = 4 // times the recording, all in all
	tables := readSiteTables(t)
	names := []string{"ftrace", "kprobes", "tracepoints-coarse", "nomitig-late"}
	for _, name := range names[:testsize.Of(t, 1, len(names))] {
		o := readOriginal(t, name, tables)
		told, several := 0, 0
		for seed := range uint64(testsize.Of(t, 12, 16, 60)) {
			x := imageLie(o, random("image", o.name, 3000+seed))
			if x == nil || !o.executed(x.sites[0].addr) {
				continue
			}
			s := o.reopened(t, o.config, x.change)
			size := learner{s}.size()
			decoded := func(sink Sink, q Query) int64 {
				before := s.decoded.Load()
				if err := s.Flow(t.Context(), q, sink); err != nil {
					t.Fatal(err)
				}
				return s.decoded.Load() - before
			}
			q := Query{Jobs: 1 + int(seed%2), Merged: seed%3 == 0}
			var got, want whatIsTold
			work := decoded(&got, q)
			whole := decoded(&want, q)
			if d := got.differs(&want); d != "" {
				t.Errorf("%s %d, %s: %s", name, seed, x.what, d)
			}
			if list := learnedBy(s); len(list) > 0 && got.again {
				told++
				if s.code.Load().either != nil {
					several++
				}
			}
			if work > most*size {
				t.Errorf("%s %d, %s: decoded %d bytes, %d times as many as there are", name, seed, x.what, work, work/size)
			}
			t.Logf("%s %d: decoded %d bytes to learn and tell, %d to tell again, of %d", name, seed, work, whole, size)
			s.Close()
		}
		if told < 4 {
			t.Errorf("%s: flow of %d cases was told, of %d of them with several codes", name, told, several)
		}
	}
}

// whatIsTold is a digest of all that a flow says, by stream: instructions, and what lies between them. It can begin anew.
type whatIsTold struct {
	of    map[int]*toldStream
	again bool // it did
}

// toldStream is what a flow says of one stream.
type toldStream struct {
	hash  uint64
	insns int
	marks []uint64 // the hash behind each so many instructions
}

// markEvery is of how many instructions one has a mark.
const markEvery = 1 << 12

// add takes what comes next.
func (x *toldStream) add(list ...uint64) {
	for _, v := range list {
		x.hash = (x.hash ^ v) * 0x9e3779b97f4a7c15
		x.hash ^= x.hash >> 29
	}
}

// Restart forgets everything.
func (w *whatIsTold) Restart() bool {
	w.of, w.again = nil, true
	return true
}

// Flow takes a batch.
func (w *whatIsTold) Flow(b *flow.Batch) error {
	if w.of == nil {
		w.of = map[int]*toldStream{}
	}
	x := w.of[b.Stream]
	if x == nil {
		x = &toldStream{}
		w.of[b.Stream] = x
	}
	for n, r := range b.All() {
		if n != nil {
			x.add(uint64(n.Kind), uint64(n.Verdict), uint64(n.Trap), n.IP, uint64(n.Event.Off), uint64(n.Gap.Reason), uint64(n.Gap.Off))
			continue
		}
		a, st := r.Block.Addr, &b.Stamps[r.Stamp]
		for _, k := range r.Block.Lens[:r.N] {
			x.add(a, uint64(r.Verdict), uint64(st.Off), st.Time.Lo, st.Time.Hi)
			a += uint64(k)
			if x.insns++; x.insns%markEvery == 0 {
				x.marks = append(x.marks, x.hash)
			}
		}
	}
	return nil
}

// differs says where w and x differ first.
func (w *whatIsTold) differs(x *whatIsTold) string {
	for i, a := range x.of {
		b := w.of[i]
		if b != nil && a.hash == b.hash && a.insns == b.insns {
			continue
		}
		if b == nil {
			return fmt.Sprintf("stream %d: nothing is told", i)
		}
		k := 0
		for k < len(a.marks) && k < len(b.marks) && a.marks[k] == b.marks[k] {
			k++
		}
		return fmt.Sprintf("stream %d: %d and %d instructions, they differ behind the %d.", i, b.insns, a.insns, k*markEvery)
	}
	return ""
}
