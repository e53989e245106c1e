package shard

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/pt"
)

// printed is a Sink that keeps a hash of each range and note, in order: all that a sink can
// ask of it but where batches are cut. Of the event that comes next, the lower bound is left out:
// nothing asks for it, and where a batch ends it hangs on where that is.
type printed struct {
	words  []uint64
	blocks map[*decoder.Block]uint64
}

// mixed mixes numbers.
func mixed(list ...uint64) (h uint64) {
	for _, v := range list {
		h = (h ^ v) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}

// block returns a hash of k.
func (p *printed) block(k *decoder.Block) uint64 {
	h, ok := p.blocks[k]
	if !ok {
		if p.blocks == nil {
			p.blocks = map[*decoder.Block]uint64{}
		}
		f := fnv.New64a()
		fmt.Fprint(f, k.Space, k.Addr, k.End, k.LastIP(), k.Target, k.Span, k.N, k.Class, k.Flags, k.Mode, k.Stop, k.Lens[:k.N])
		h = f.Sum64()
		p.blocks[k] = h
	}
	return h
}

// Flow keeps b.
func (p *printed) Flow(b *decoder.Batch) error {
	if b.Part != 0 {
		return nil
	}
	for n, r := range b.All() {
		if n != nil {
			h := fnv.New64a()
			fmt.Fprint(h, b.Stream, n.Kind, n.Verdict, n.Trap, n.Poke, n.IP, n.Space, n.Event, n.Gap, n.Others)
			p.words = append(p.words, h.Sum64())
			continue
		}
		s, next := b.Stamps[r.Stamp], decoder.Stamp{}
		for _, o := range b.Stamps[r.Stamp+1:] {
			if o.Off != s.Off {
				next = o
				break
			}
		}
		either := uint64(0)
		if r.Either() {
			either = 1
		}
		p.words = append(p.words, mixed(uint64(b.Stream), p.block(r.Block), uint64(r.N), uint64(r.Verdict), either, uint64(s.Off), s.Time.Lo, s.Time.Hi, uint64(next.Off), next.Time.Hi))
	}
	return nil
}

// recordings are those that the tests share, by name.
func recordings(t *testing.T) map[string]decoder.Config {
	t.Helper()
	data := testsize.Recordings(t)
	list := map[string]decoder.Config{}
	add := func(pattern string, all bool) {
		found, _ := filepath.Glob(filepath.Join(data, pattern))
		for _, p := range found {
			name, _ := filepath.Rel(data, p)
			list[name] = decoder.Config{Recording: p, AllBuffers: all, NoLearn: true}
		}
	}
	add("kernel-pokes-*/*/perf.data", false)
	add("coresight/snapshots/*", true)
	add("real-arm/perf_etm.data", false)
	traces, _ := filepath.Glob(filepath.Join(data, "pt-user/*/cpu0.pt"))
	for _, p := range traces {
		dir := filepath.Dir(p)
		list["pt-user/"+filepath.Base(dir)] = decoder.Config{
			Raw: []decoder.RawTrace{{Protocol: decoder.IntelPT, Path: p}}, Kcore: filepath.Join(dir, "text.core"), Model: pt.Model{Family: 6, Model: 94},
		}
	}
	at := map[string]uint64{"a57": 0xffff800080010000, "max": 0xffff9ad86fe10000} // as the snapshots say
	windows, _ := filepath.Glob(filepath.Join(data, "kernel-pokes-arm64/*-*/*/snapshot.ini"))
	for _, p := range windows {
		dir := filepath.Dir(p)
		name, _ := filepath.Rel(data, dir)
		kernel, _, _ := strings.Cut(filepath.Base(filepath.Dir(dir)), "-")
		list[name] = decoder.Config{
			Recording: dir, AllBuffers: true, NoLearn: true, Events: filepath.Join(dir, "../journal.jsonl"),
			Code: []decoder.CodeFile{{Path: filepath.Join(data, "kernel-pokes-arm64/text", kernel+".bin"), Addr: at[kernel]}},
		}
	}
	add("kernel-pokes-arm64/repro/snapshot", true)
	return list
}

// TestFlow would catch flow that is lost, changed or in another order where shards write it and
// it is read from their parts.
func TestFlow(t *testing.T) {
	counts, only := []int{7}, []string{"kernel-pokes-x86/kprobes/perf.data", "coresight/snapshots/TC2"}
	every := testsize.Of(t, 0, 0, 1) == 1
	if every {
		counts = []int{1, 2, 7, 64}
	}
	for name, c := range recordings(t) {
		if !every && !slices.Contains(only, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s, err := decoder.Open(c)
			if err != nil {
				t.Skipf("it cannot be decoded: %s", err)
			}
			defer s.Close()
			for _, merged := range []bool{true, false} {
				for _, n := range counts {
					shared(t, s, decoder.Query{Merged: merged, Bounds: merged}, n)
				}
			}
		})
	}
}

// shared compares the flow of n shards with the flow of one process.
func shared(t *testing.T, s *decoder.Session, q decoder.Query, n int) {
	t.Helper()
	var whole, parts printed
	if err := s.Flow(context.Background(), q, &whole); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i := range n {
		p, err := NewPart(Spec{i + 1, n}, Head{flowKind, "c"}, nil, dir)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(p, "{\"of\":%q}\n", streamsOf(s))
		r, err := newRecorder(p, len(s.Streams()))
		if err != nil {
			t.Fatal(err)
		}
		q := q
		q.Shard, q.Shards = i+1, n
		if err := s.Flow(context.Background(), q, r); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(r.Close()); err != nil {
			t.Fatal(err)
		}
	}
	var opened []*opened
	defer func() {
		for _, p := range opened {
			p.file.Close()
		}
	}()
	opened, err := openAll([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	j, err := newJoined(opened)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.fits(s); err != nil {
		t.Fatal(err)
	}
	if err := j.give(s, &parts); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(parts.words, whole.words) {
		return
	}
	at := 0
	for at < min(len(parts.words), len(whole.words)) && parts.words[at] == whole.words[at] {
		at++
	}
	slices.Sort(parts.words)
	slices.Sort(whole.words)
	t.Errorf("merged %v, %d shards: %d ranges and notes, want %d; they differ from number %d on; only the order differs: %v",
		q.Merged, n, len(parts.words), len(whole.words), at, slices.Equal(parts.words, whole.words))
}

// TestLearned would catch shards that do not take what was learned, or not as one process does.
// A file says of a site what else may have lain there, so the flow is ambiguous there.
func TestLearned(t *testing.T) {
	c := decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "ftrace", "perf.data"), NoLearn: true}
	s, err := decoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first := &firstAdd{}
	if err := s.Flow(t.Context(), decoder.Query{Merged: true}, first); err != nil {
		t.Fatal(err)
	}
	var code [3]byte
	if n, _ := s.Text().Fetch(code[:], first.addr, 0); n != len(code) {
		t.Fatalf("%d bytes of code at %x", n, first.addr)
	}
	other := code
	other[2] ^= 8
	c.Learned = filepath.Join(t.TempDir(), "learned")
	line := fmt.Sprintf(`{"type":"learned","addr":"%016x","kind":"images differ","code":"%x","others":["%x"],"visits_for":1,"visits_against":0}`, first.addr, code, other)
	if err := os.WriteFile(c.Learned, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := decoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var plain, taken printed
	for _, x := range []struct {
		s *decoder.Session
		p *printed
	}{{s, &plain}, {l, &taken}} {
		if err := x.s.Flow(t.Context(), decoder.Query{Merged: true}, x.p); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Equal(plain.words, taken.words) {
		t.Error("what was learned changes nothing")
	}
	shared(t, l, decoder.Query{Merged: true, Bounds: true}, 3)
}

// firstAdd finds an instruction of three bytes that flow begins a block with.
type firstAdd struct{ addr uint64 }

// Flow looks at b.
func (f *firstAdd) Flow(b *decoder.Batch) error {
	for _, r := range b.Ranges {
		if k := r.Block; k.Lens[0] == 3 && k.N > 2 && r.Verdict == decoder.Certain {
			f.addr = k.Addr
			return decoder.ErrStop
		}
	}
	return nil
}

// TestAllFields would catch a field that a part does not hold: one that is new. Of a batch it
// does not hold Onward, condensed and Walked, which nobody there asks for.
func TestAllFields(t *testing.T) {
	for _, x := range []struct {
		of   any
		want int
	}{{decoder.Batch{}, 5 + 3}, {decoder.BatchRange{}, 5}, {decoder.Stamp{}, 2}, {decoder.Note{}, 12}, {event.Event{}, 14}, {event.Gap{}, 7}, {decoder.Stretch{}, 4}} {
		if got := reflect.TypeOf(x.of).NumField(); got != x.want {
			t.Errorf("%T has %d fields, and parts know %d of them", x.of, got, x.want)
		}
	}
}

// readBack gives sink the flow of streams that body holds.
func readBack(body []byte, streams []*decoder.Stream, sink decoder.Sink) error {
	n := len(streams)
	r := &reading{replayer: newReplayer(streams), in: newIn(bytes.NewReader(body)), blocks: make([]*decoder.Block, 1), tips: make([]following, 1), last: make([]uint32, n), stamps: make([]decoder.Stamp, n)}
	return r.all(sink)
}

// targets is a Sink that keeps where the blocks of ranges lead.
type targets []uint64

// Flow keeps b.
func (t *targets) Flow(b *decoder.Batch) error {
	for i := range b.Ranges {
		*t = append(*t, b.Ranges[i].Block.Target)
	}
	return nil
}

// TestGuestBlocks would catch code of a virtual machine that is taken for the host's. Both have a block at one
// address, with instructions of the same lengths, that leads elsewhere.
func TestGuestBlocks(t *testing.T) {
	var file bytes.Buffer
	p, _ := NewPart(Spec{1, 1}, Head{flowKind, "c"}, &file, "")
	r, _ := newRecorder(p, 2)
	want := targets{0x2000, 0x3000}
	for i, to := range want {
		k := (&decoder.Block{Addr: 0x1000, N: 1, Lens: []byte{2}, Target: to}).Part(0, 1)
		b := decoder.Batch{Stream: i, Stamps: []decoder.Stamp{{Time: event.Always}}, Ranges: []decoder.BatchRange{{Block: k, N: 1}}}
		if err := r.Flow(&b); err != nil {
			t.Fatal(err)
		}
	}
	var got targets
	if err := readBack(append(bytes.Clone(r.out), 0), []*decoder.Stream{{}, {Guest: 7}}, &got); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("blocks lead to %x, want %x", got, want)
	}
}

// TestWrongFlow would catch a part that makes merge panic or run on, whatever it holds.
func TestWrongFlow(t *testing.T) {
	var whole bytes.Buffer
	p, _ := NewPart(Spec{1, 1}, Head{flowKind, "c"}, &whole, "")
	r, _ := newRecorder(p, 2)
	k := (&decoder.Block{Addr: 0x1000, N: 2, Lens: []byte{1, 2}}).Part(0, 2)
	b := decoder.Batch{
		Stream: 1, Stamps: []decoder.Stamp{{Off: 7, Time: event.Time{Lo: 5, Hi: 9}}, {Off: 9, Time: event.Always}},
		Ranges: []decoder.BatchRange{{Block: k, N: 2}, {Block: k, N: 1, Stamp: 1, Verdict: decoder.Ambiguous}},
		Notes:  []decoder.Note{{At: 1, Kind: decoder.NoteGap, Poke: -1, Gap: event.Gap{What: "lost"}, Others: []decoder.Stretch{{IP: 1, End: 3, N: 1}}}},
	}
	if err := r.Flow(&b); err != nil {
		t.Fatal(err)
	}
	plain := bytes.Clone(r.out)
	try := func(body []byte) error {
		var got printed
		return readBack(body, []*decoder.Stream{{}, {}}, &got)
	}
	if err := try(append(bytes.Clone(plain), 0)); err != nil {
		t.Errorf("what was written cannot be read: %s", err)
	}
	for n := range plain {
		if err := try(plain[:n]); err != errFlow {
			t.Errorf("%d of %d bytes: %v", n, len(plain), err)
		}
		for bit := range 8 {
			x := append(bytes.Clone(plain), 0)
			x[n] ^= 1 << bit
			_ = try(x) // it ends
		}
	}
}

// TestKilled would catch a shard that leaves a part under its name before that is whole, and
// one that is different when it is run again.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	write := func(end bool) string {
		p, err := NewPart(Spec{1, 1}, Head{"text", "c"}, nil, dir)
		if err != nil {
			t.Fatal(err)
		}
		p.Write(bytes.Repeat([]byte("a line\n"), 100_000))
		if end {
			if err := p.Close(nil); err != nil {
				t.Fatal(err)
			}
		}
		list, _ := filepath.Glob(filepath.Join(dir, "part-*"))
		return strings.Join(list, " ")
	}
	if got := write(false); got != "" { // as where it is killed: nobody closes it
		t.Errorf("a shard that is killed leaves %s", got)
	}
	if got := write(true); !strings.HasSuffix(got, "part-00001-of-00001") {
		t.Errorf("its second run leaves %q", got)
	}
	before, _ := os.ReadFile(filepath.Join(dir, "part-00001-of-00001"))
	write(false)
	write(true)
	after, _ := os.ReadFile(filepath.Join(dir, "part-00001-of-00001"))
	if !bytes.Equal(before, after) || len(after) == 0 {
		t.Errorf("a shard that is run again writes %d bytes, before %d", len(after), len(before))
	}
	var joined bytes.Buffer
	if err := merge([]string{dir}, "-", &joined, map[string]Joiner{"text": Concatenate}, nil, nil); err != nil || joined.Len() != 700_000 {
		t.Errorf("%d bytes joined: %v", joined.Len(), err)
	}
}
