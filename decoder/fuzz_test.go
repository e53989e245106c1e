package decoder

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/pt"
)

// What a fuzzed flow runs over: text at one address, and pokes of it.
const (
	fuzzText  = 0xffffffff81000000
	fuzzStart = 0x1000 // ns: the first poke's record is no earlier
	fuzzMost  = 32     // pokes
)

// fuzzPokes reads pokes. Each has its time after the last one (2 bytes, ns),
// its offset in the code (2) and its scheme (1). Then come the lengths of the
// old and the new bytes (1: 4 bits each), and those bytes. The journal may say
// what the code does not bear out.
func fuzzPokes(b []byte) (out []kcore.Poke) {
	at := uint64(fuzzStart)
	for len(b) >= 6 && len(out) < fuzzMost {
		at += uint64(binary.LittleEndian.Uint16(b))
		addr := fuzzText + uint64(binary.LittleEndian.Uint16(b[2:]))
		n, m := int(b[5]&15), int(b[5]>>4)
		scheme := [...]kcore.Scheme{kcore.SchemeBP, kcore.SchemeKprobe, kcore.SchemeSlot,
			kcore.SchemeXMC, kcore.SchemeStop, kcore.SchemeAtomic, kcore.SchemeUnsafe}[int(b[4])%int(sim.NumSchemes)]
		if b = b[6:]; n+m == 0 || n+m > len(b) {
			break
		}
		p := kcore.Poke{Time: at, Begin: at, End: at, Addr: addr, Old: bytes.Clone(b[:n]), New: bytes.Clone(b[n : n+m]), Scheme: scheme}
		if scheme == kcore.SchemeAtomic || scheme == kcore.SchemeStop {
			p.End += 100
		}
		b = b[n+m:]
		if _, err := kcore.NewJournal([]kcore.Poke{p}); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// fuzzSeed writes what fuzzPokes reads.
func fuzzSeed(r *sim.Run) (b []byte) {
	at := uint64(fuzzStart)
	for i := range r.Pokes {
		p := &r.Pokes[i]
		if p.Addr-fuzzText > 0xffff || len(p.Old) > 15 || len(p.New) > 15 {
			continue
		}
		d := min(p.Time-min(at, p.Time), 0xffff)
		at += d
		b = binary.LittleEndian.AppendUint16(b, uint16(d))
		b = binary.LittleEndian.AppendUint16(b, uint16(p.Addr-fuzzText))
		b = append(b, byte(p.Scheme), byte(len(p.Old)|len(p.New)<<4))
		b = append(append(b, p.Old...), p.New...)
	}
	return b
}

// fuzzSession is a session over a fuzzed stream.
func fuzzSession(trace, text, pokes []byte) (*Session, error) {
	f := recording.New(&recording.Config{})
	f.Meta.PT = pt.Config{TSC: true, MTC: true, CYC: true, MTCFreq: 3, CTCNum: sim.RatioEBX, CTCDen: sim.RatioEAX, MaxNonTurboRatio: sim.NomFreq}
	f.Pokes = fuzzPokes(pokes)
	f.Breaks = []uint64{fuzzText + 0x40}
	f.Code = append(f.Code, recording.Code{Addr: fuzzText, Bytes: text})
	f.Streams = append(f.Streams, &stream.Stream{Protocol: stream.IntelPT, TID: -1, Size: int64(len(trace)), Data: stream.Memory(trace)})
	s := &Session{rec: f}
	return s, s.assemble()
}

// bounded is a Sink that looks at what it is given and keeps none of it.
type bounded struct {
	t       *testing.T
	size    int64 // of the stream, bytes
	off     int64 // of the newest stamp of the batch
	insns   int
	verdict [flow.Ambiguous + 1]int
}

func (b *bounded) Flow(x *flow.Batch) error {
	b.off = 0
	for _, n := range x.Notes {
		if n.Kind == flow.NoteGap && (n.Gap.Off < 0 || n.Gap.End > b.size) {
			b.t.Errorf("gap from %#x to %#x in a stream of %#x", n.Gap.Off, n.Gap.End, b.size)
		}
	}
	for _, r := range x.Ranges {
		if r.N == 0 || r.N > r.Block.N {
			b.t.Errorf("%d instructions of a block of %d", r.N, r.Block.N)
		}
		if off := x.Stamps[r.Stamp].Off; off < b.off || off > b.size {
			b.t.Errorf("at %#x after %#x, of %#x", off, b.off, b.size)
		} else {
			b.off = off
		}
		b.insns += int(r.N)
		b.verdict[r.Verdict]++
	}
	return nil
}

// FuzzFlow would catch a panic, a walk without end, instructions without a
// bound, and places outside of the stream. It would also catch a decode that
// depends on how it is cut. It walks arbitrary packets over arbitrary code,
// with pokes that may lie.
func FuzzFlow(f *testing.F) {
	for _, seed := range []uint64{2, 5347, 8428, 9889, 24806} {
		r := sim.Simulate(sim.Draw(seed))
		f.Add(r.CPUs[0].PT[:min(len(r.CPUs[0].PT), 1200)], r.Start[0].Bytes[:min(len(r.Start[0].Bytes), 2048)], fuzzSeed(r))
	}
	f.Fuzz(func(t *testing.T, trace, text, pokes []byte) {
		if len(trace) > 4096 || len(text) > 4096 {
			t.Skip("larger than is worth the time")
		}
		decode := func(q Query) bounded {
			s, err := fuzzSession(trace, text, pokes)
			if err != nil {
				t.Skip(err)
			}
			b := bounded{t: t, size: int64(len(trace))}
			if err := s.Flow(context.Background(), q, &b); err != nil {
				t.Fatal(err)
			}
			return b
		}
		one := decode(Query{Jobs: 1})
		// Between two outcomes or events each address is executed once, but for
		// code that goes round. The walker notices that after some blocks, and
		// after three rounds where a contested site lies in it.
		if most := (len(trace)*8 + 64) * (4*(len(text)+64) + 16*1024); one.insns > most {
			t.Errorf("%d instructions from %d bytes of trace over %d of text", one.insns, len(trace), len(text))
		}
		if cut := decode(Query{Jobs: 4, SegmentBytes: 1}); cut != one {
			t.Errorf("cut small %+v, whole %+v", cut, one)
		}
	})
}
