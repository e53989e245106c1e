package export

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/spf13/cobra"

	verb "github.com/ptdecode/ptdecode/cmd/internal/calls"
	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/hot"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// slowTimes divides time as docs/formats/output.md says, in a way of its own: it keeps all
// that the trace shows of each stream, and looks at it afterwards.
type slowTimes struct {
	passes  *rows.Maker // nil: everything counts
	streams [][]shown
}

// shown is something that the trace shows.
type shown struct {
	kind   decoder.NoteKind // of what is no instructions
	time   event.Time
	block  *decoder.Block // the first n instructions of it; nil: none
	n      int
	passes bool
}

// Flow keeps what b shows.
func (k *slowTimes) Flow(b *decoder.Batch) error {
	for len(k.streams) <= b.Stream {
		k.streams = append(k.streams, nil)
	}
	list, notes := &k.streams[b.Stream], b.Notes
	for i := 0; i <= len(b.Ranges); i++ {
		for ; len(notes) > 0 && notes[0].At <= i; notes = notes[1:] {
			switch n := &notes[0]; n.Kind {
			case decoder.NoteGap:
				*list = append(*list, shown{kind: n.Kind, time: n.Gap.Time})
			case decoder.NoteTrackOff, decoder.NoteTrackOn:
				*list = append(*list, shown{kind: n.Kind, time: n.Event.Time})
			}
		}
		if i < len(b.Ranges) {
			r := &b.Ranges[i]
			*list = append(*list, shown{time: b.Stamps[r.Stamp].Time, block: r.Block, n: int(r.N), passes: k.passes == nil || k.passes.Passes(b, r)})
		}
	}
	return nil
}

// Close does nothing.
func (k *slowTimes) Close() error { return nil }

// times is ns by the address of an instruction.
type times map[uint64]float64

// divided returns the time of each instruction that passes, and how much was divided among them.
func (k *slowTimes) divided() (by times, sum float64) {
	by = times{}
	for _, all := range k.streams {
		for i := 1; i < len(all); i++ {
			if all[i].time.Lo == 0 { // it is no later than what comes before
				all[i].time.Lo = all[i-1].time.Lo
			}
		}
		for from, to := 0, 0; from < len(all); from = to {
			for to < len(all) && all[to].time.Lo == all[from].time.Lo {
				to++
			}
			if to < len(all) {
				sum += divide(by, all[from:to], all[to].time.Lo)
			}
		}
	}
	return by, sum
}

// divide divides the time from one stated time to the next one, until, among what the trace
// shows in between. It returns what those got that pass.
func divide(by times, list []shown, until uint64) (sum float64) {
	from, insns := list[0].time.Lo, 0
	for i := range list {
		if list[i].block == nil && list[i].kind == decoder.NoteGap {
			return 0
		}
		insns += list[i].n
	}
	if from == 0 || until < from {
		return 0
	}
	if last := list[len(list)-1]; last.block == nil && last.kind == decoder.NoteTrackOff && last.time.Hi > from {
		until = min(until, last.time.Hi)
	}
	for _, m := range list {
		if !m.passes {
			continue
		}
		a := m.block.Addr
		for _, l := range m.block.Lens[:m.n] {
			by[a] += float64(until-from) / float64(insns)
			sum += float64(until-from) / float64(insns)
			a += uint64(l)
		}
	}
	return sum
}

// timesOf returns the times of a table.
func timesOf(t *counts.Table) times {
	by := times{}
	for _, r := range t.Ranges() {
		a := r.Block.Addr
		for _, l := range r.Block.Lens[:r.Insns] {
			by[a] += r.Time.Nanoseconds() / float64(r.Insns)
			a += uint64(l)
		}
	}
	return by
}

// sameTimes fails where got is not want. A time may be off by as much as off says.
func sameTimes[K comparable](t *testing.T, what string, got, want map[K]float64, off func(K) float64) {
	t.Helper()
	wrong, all := 0, map[K]bool{}
	for k := range got {
		all[k] = true
	}
	for k := range want {
		all[k] = true
	}
	for k := range all {
		if math.Abs(got[k]-want[k]) > off(k) {
			if wrong++; wrong < 5 {
				t.Errorf("%s: %v has %.3f ns, want %.3f", what, k, got[k], want[k])
			}
		}
	}
	if wrong > 0 || len(want) == 0 {
		t.Errorf("%s: %d of %d times are wrong", what, wrong, len(want))
	}
}

// TestTimes would catch time that hot and pprof divide in another way than the documents say. Each may have
// a way of its own, or give a filter's part the time of the rest. Time may be lost where tracing goes off, or a window ends.
func TestTimes(t *testing.T) {
	data := testsize.Recordings(t)
	for _, x := range []struct {
		name string
		f    rows.Options
	}{
		{name: "tracepoints-coarse"},
		{name: "nomitig-late"},
		{name: "kprobes"},
		{name: "kprobes", f: rows.Options{From: 4_420_000_000, Until: 4_420_050_000}},
		{name: "nomitig-late", f: rows.Options{Syms: []string{"entry_SYSCALL_64", "do_*"}}},
		{name: "tracepoints-coarse", f: rows.Options{From: 3_692_600_000, Until: 3_692_600_001}},
	}[testsize.Of(t, 3, 0):] {
		t.Run(x.name, func(t *testing.T) {
			sameAsDivided(t, decoder.Config{Recording: filepath.Join(data, "kernel-pokes-x86", x.name, "perf.data")}, x.f)
		})
	}
	if testsize.Of(t, 0, 1) == 0 {
		return
	}
	arm := filepath.Join(data, "kernel-pokes-arm64")
	t.Run("a57-jump", func(t *testing.T) {
		sameAsDivided(t, decoder.Config{
			Recording: filepath.Join(arm, "a57-jump", "fine"), Events: filepath.Join(arm, "a57-jump", "journal.jsonl"),
			Code: []decoder.CodeFile{{Path: filepath.Join(arm, "text", "a57.bin"), Addr: 0xffff800080010000}},
		}, rows.Options{})
	})
}

// TestTimesMade does the same with traces that are made at random: of code that tracing comes on at, and goes off
// behind. Times are stated before, in between and behind, and at sync points.
func TestTimesMade(t *testing.T) {
	const code = 0xffffffff81000000
	text := append(bytes.Repeat([]byte{0x90}, 10), 0x48, 0x0f, 0x07) // NOPs and SYSRET
	for seed := range uint64(testsize.Of(t, 30, 500)) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		var pt []byte
		now := uint64(1000)
		tsc := func() {
			now += uint64(1 + rnd.IntN(300))
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], now)
			pt = append(append(pt, 0x19), b[:7]...)
		}
		for range 3 {
			pt = append(pt, bytes.Repeat([]byte{0x02, 0x82}, 8)...) // PSB
			tsc()
			pt = append(pt, 0x99, 0x01, 0x02, 0x23) // MODE.Exec, PSBEND
			for range 10 {
				for rnd.IntN(2) == 0 {
					tsc()
				}
				if rnd.IntN(20) == 0 {
					pt = append(pt, 0x02, 0xf3) // OVF
				}
				pt = binary.LittleEndian.AppendUint64(append(pt, 0xd1), code+uint64(rnd.IntN(10))) // TIP.PGE
				if rnd.IntN(4) == 0 {
					tsc()
				}
				pt = append(pt, 0x01) // TIP.PGD
			}
		}
		sameAsDivided(t, decoder.Config{
			FS:   fstest.MapFS{"pt": {Data: pt}, "code": {Data: text}},
			Raw:  []decoder.RawTrace{{Path: "pt", Protocol: decoder.IntelPT}},
			Code: []decoder.CodeFile{{Path: "code", Addr: code}},
		}, rows.Options{})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// sameAsDivided compares hot and pprof with what is divided slowly.
func sameAsDivided(t *testing.T, c decoder.Config, o rows.Options) {
	s, err := decoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var of *host.Filter
	var lines bytes.Buffer
	h := testHost(c, &lines)
	all := h.Filters(nil)
	h.Filters = func(*cobra.Command) func(*decoder.Session) (*host.Filter, error) {
		return func(s *decoder.Session) (f *host.Filter, err error) {
			of, err = all(s)
			of.Query, of.Options = decoder.Query{From: o.From, Until: o.Until}, o
			return of, err
		}
	}
	pb := filepath.Join(t.TempDir(), "pb")
	runVerb(t, New(h), "-o", "pprof:"+pb, "--with-ambiguous")
	runVerb(t, hot.New(h), "--sort", "time", "-o", "jsonl")

	slow := &slowTimes{passes: counts.Passing(s, of)}
	if err := s.Flow(t.Context(), decoder.Query{Bounds: true}, slow); err != nil {
		t.Fatal(err)
	}
	want, sum := slow.divided()
	q := of.Query
	q.Bounds = true
	counter := counts.New(s, of, counts.Options{Time: true})
	if err := h.Deliver(t.Context(), s, q, counter); err != nil {
		t.Fatal(err)
	}
	sameTimes(t, "hot", timesOf(counter.All(0)), want, func(a uint64) float64 { return 0.01 + want[a]/1000 })

	of1, functions := map[uint64]float64{}, map[string]float64{} // how many samples there are
	got, named, total := times{}, map[string]float64{}, 0.0
	for _, s := range parsed(t, pb).Sample {
		a, fn := s.Location[0].Address, s.Location[0].Line[0].Function.Name
		of1[a]++
		functions[fn]++
		got[a] += float64(s.Value[1])
		named[fn] += float64(s.Value[1])
		total += float64(s.Value[1])
	}
	sameTimes(t, "pprof", got, want, func(a uint64) float64 { return 0.6 + of1[a] })
	byFunction, listed := map[string]float64{}, 0.0
	for d := json.NewDecoder(&lines); ; {
		var e struct {
			Sym  string  `json:"sym"`
			File string  `json:"file"`
			Time float64 `json:"time_ns"`
		}
		if err := d.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if e.Sym == "" {
			if e.Sym = "[unknown]"; e.File != "" {
				e.Sym = "[" + e.File + "]"
			}
		}
		byFunction[e.Sym] += e.Time
		listed += e.Time
	}
	sameTimes(t, "functions", byFunction, named, func(fn string) float64 { return 0.6 + functions[fn] })
	if near := 1 + sum/1e5; sum == 0 || math.Abs(total-sum) > near || math.Abs(listed-sum) > near {
		t.Errorf("pprof has %.0f ns and hot %.0f, want %.0f", total, listed, sum)
	}
}

// TestTimesAtRandom does the same with random flow of a Counter: with clocks that are set back, gaps, and
// tracing that goes off and on at all times.
func TestTimesAtRandom(t *testing.T) {
	s, err := decoder.Open(decoder.Config{
		FS:  fstest.MapFS{"pt": {Data: []byte{0}}},
		Raw: []decoder.RawTrace{{Path: "pt", Protocol: decoder.IntelPT}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var blocks []*decoder.Block
	for i := range 40 {
		blocks = append(blocks, &decoder.Block{Addr: uint64(i * 16), End: uint64(i*16 + 3), N: 3, Lens: []uint8{1, 1, 1}, Class: isa.JumpInd})
	}
	const instructions = decoder.NoteKind(99)
	for seed := range uint64(testsize.Of(t, 300, 5000)) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		slow, counter := &slowTimes{}, counts.New(s, &host.Filter{}, counts.Options{Time: true})
		now := uint64(rnd.IntN(2) * 1000)
		when := func() event.Time {
			switch rnd.IntN(6) {
			case 0:
				now += uint64(rnd.IntN(300))
			case 1:
				if rnd.IntN(20) == 0 {
					now -= min(now, 500)
				}
			}
			return event.Time{Lo: now, Hi: []uint64{now, now + uint64(rnd.IntN(100)), math.MaxUint64}[rnd.IntN(3)]}
		}
		for range 1 + rnd.IntN(20) {
			b := &decoder.Batch{}
			for range rnd.IntN(10) {
				if k := []decoder.NoteKind{decoder.NoteGap, decoder.NoteTrackOff, decoder.NoteTrackOn, decoder.NoteEvent, instructions, instructions, instructions, instructions}[rnd.IntN(8)]; k != instructions && (k != decoder.NoteGap || rnd.IntN(4) == 0) {
					n := decoder.Note{Kind: k, At: len(b.Ranges)}
					n.Gap.Time = when()
					n.Event.Time = n.Gap.Time
					b.Notes = append(b.Notes, n)
					continue
				}
				b.Stamps = append(b.Stamps, decoder.Stamp{Time: when()})
				b.Ranges = append(b.Ranges, decoder.BatchRange{
					Block: blocks[rnd.IntN(len(blocks))], N: uint16(1 + rnd.IntN(3)), Stamp: uint32(len(b.Stamps) - 1), Verdict: decoder.Verdict(rnd.IntN(5)),
				})
			}
			if slow.Flow(b) != nil || counter.Flow(b) != nil {
				t.Fatal("an error")
			}
		}
		got, sum := timesOf(counter.All(0)), 0.0
		want, all := slow.divided()
		for _, n := range got {
			sum += n
		}
		off := func(uint64) float64 { return 0.5 }
		if len(want) > 0 {
			sameTimes(t, "hot", got, want, off)
		}
		if math.Abs(sum-all) > 1 {
			t.Errorf("it has %.3f ns in all, want %.3f", sum, all)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestFoldedTime would catch time of folded-time that is not what the verb calls says: that functions took without callees.
func TestFoldedTime(t *testing.T) {
	c := decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "kprobes", "perf.data")}
	var lines bytes.Buffer
	runVerb(t, verb.New(testHost(c, &lines)), "-o", "jsonl")
	want, got := map[string]float64{}, map[string]float64{}
	for d := json.NewDecoder(&lines); d.More(); {
		var e struct {
			Sym  string  `json:"sym"`
			Self float64 `json:"self_ns"`
		}
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		want[e.Sym] += e.Self
	}
	path := filepath.Join(t.TempDir(), "folded")
	runVerb(t, New(testHost(c, io.Discard)), "-o", "folded-time:"+path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		i, last := strings.LastIndexByte(line, ' '), strings.LastIndexByte(line, ';')
		n, err := strconv.ParseFloat(strings.TrimSpace(line[i:]), 64)
		if err != nil {
			t.Fatal(err)
		}
		got[line[last+1:i]] += n
	}
	sameTimes(t, "folded-time", got, want, func(string) float64 { return 0 })
}
