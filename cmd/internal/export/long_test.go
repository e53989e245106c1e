package export

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/pt"
)

// Types of perf.data's records (include/uapi/linux/perf_event.h, tools/lib/perf, v6.12).
const (
	recordAux           = 11
	recordSwitch        = 14
	recordSwitchCPU     = 15
	recordTextPoke      = 20
	recordFinishedRound = 68
	recordAuxTrace      = 71
	auxTraceHead        = 48 // bytes of a recordAuxTrace in front of its trace
	sampleIDTime        = 24 // how far in front of a record's end its time lies, bytes
)

// period is what times move on by from one turn to the next, ticks of the TSC and ns. In
// it the crystal's counter overflows as often as its 16 bits do (CPUID 15H has 80/2), so that
// packets that hold parts of the counter need no change.
const period = 65536 * 40 * 2048

// repeated is a recording of a kernel that is repeated with times moved on. It keeps
// attributes, features and what is recorded once. In each turn come the trace, switches
// of threads and changes to the code, and behind it changes that undo these.
type repeated struct {
	head    []byte // up to the data
	once    []byte // records
	turn    []byte // records of each turn
	undo    []byte // records behind it
	trace   [][]byte
	tsc     [][]int // of each trace: where the payloads of TSC packets lie
	sizes   map[uint32]uint64
	tail    []byte // features: their table, and what they hold
	table   int    // bytes of the table
	tailOff uint64 // where tail lay
}

// le reads a number.
func le(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// readRepeated reads the recording to be repeated.
func readRepeated(t *testing.T, file string) *repeated {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	from, size := le(b[40:]), le(b[48:])
	r := &repeated{head: b[:from:from], tail: b[from+size:], tailOff: from + size, sizes: map[uint32]uint64{}}
	for i := 72; i < 104; i++ {
		for f := b[i]; f != 0; f &= f - 1 {
			r.table += 16
		}
	}
	first, now := map[uint64]byte{}, map[uint64]byte{}
	var pokes [][]byte
	last := uint64(0)
	for d := b[from : from+size]; len(d) > 0; {
		n := int(binary.LittleEndian.Uint16(d[6:]))
		x := d[:n:n]
		d = d[n:]
		switch kind := binary.LittleEndian.Uint32(x); kind {
		case recordAuxTrace:
			n := le(x[8:])
			r.takes(x, d[:n:n])
			d = d[n:]
			continue
		case recordFinishedRound:
			continue
		case recordTextPoke:
			pokes = append(pokes, x)
			a, was, is := le(x[8:]), int(binary.LittleEndian.Uint16(x[16:])), int(binary.LittleEndian.Uint16(x[18:]))
			for i := range is {
				if _, ok := first[a+uint64(i)]; !ok && i < was {
					first[a+uint64(i)] = x[20+i]
				}
				now[a+uint64(i)] = x[20+was+i]
			}
		case recordAux:
			cpu := binary.LittleEndian.Uint32(x[n-16:])
			r.sizes[cpu] = max(r.sizes[cpu], le(x[8:])+le(x[16:]))
		case recordSwitch, recordSwitchCPU:
		default:
			r.once = append(r.once, x...)
			continue
		}
		last = max(last, le(x[n-sampleIDTime:]))
		r.turn = append(r.turn, x...)
	}
	for i := len(pokes) - 1; i >= 0; i-- {
		r.undoes(pokes[i], first, now, last+period/2)
	}
	return r
}

// takes takes a recordAuxTrace and the trace behind it.
func (r *repeated) takes(head, trace []byte) {
	var at []int
	l, p := pt.NewLexer(trace, 0), pt.Packet{}
	for l.Next(&p) {
		if p.Kind == pt.TSC {
			at = append(at, int(p.Off)+1)
		}
	}
	r.trace = append(r.trace, append(head, trace...))
	r.tsc = append(r.tsc, at)
}

// undoes adds a record that undoes a change, where its bytes are not again those that there
// were before the first one.
func (r *repeated) undoes(poke []byte, first, now map[uint64]byte, time uint64) {
	a, was, is := le(poke[8:]), int(binary.LittleEndian.Uint16(poke[16:])), int(binary.LittleEndian.Uint16(poke[18:]))
	if was != is {
		return
	}
	var is0, then []byte
	for i := range uint64(is) {
		is0, then = append(is0, now[a+i]), append(then, first[a+i])
		now[a+i] = first[a+i]
	}
	if bytes.Equal(is0, then) {
		return
	}
	x := bytes.Clone(poke)
	copy(x[20:], append(is0, then...))
	binary.LittleEndian.PutUint64(x[len(x)-sampleIDTime:], time)
	r.undo = append(r.undo, x...)
}

// writeTo writes the recording with n turns.
func (r *repeated) writeTo(w io.Writer, n int) error {
	round := []byte{recordFinishedRound, 0, 0, 0, 0, 0, 8, 0}
	size := len(r.turn) + len(r.undo) + len(round)
	for _, x := range r.trace {
		size += len(x)
	}
	data := uint64(len(r.once) + n*size)
	head := bytes.Clone(r.head)
	binary.LittleEndian.PutUint64(head[48:], data)
	out := bufio.NewWriterSize(w, 1<<20)
	out.Write(head)
	out.Write(r.once)
	for i := range n {
		r.move(uint64(i))
		for _, x := range r.trace {
			out.Write(x)
		}
		out.Write(r.turn)
		out.Write(r.undo)
		out.Write(round)
	}
	tail := bytes.Clone(r.tail)
	for i := 0; i < r.table; i += 16 {
		binary.LittleEndian.PutUint64(tail[i:], le(tail[i:])-r.tailOff+uint64(len(head))+data)
	}
	out.Write(tail)
	return out.Flush()
}

// move moves the times of a turn on to those of the one with number i, which comes next.
func (r *repeated) move(i uint64) {
	if i == 0 {
		return
	}
	add := func(b []byte, n uint64) { binary.LittleEndian.PutUint64(b, le(b)+n) }
	for k, x := range r.trace {
		add(x[16:], r.sizes[binary.LittleEndian.Uint32(x[40:])])
		for _, at := range r.tsc[k] {
			v := binary.LittleEndian.Uint32(x[auxTraceHead+at:])
			high := x[auxTraceHead+at+4 : auxTraceHead+at+7]
			t := uint64(v) | uint64(high[0])<<32 | uint64(high[1])<<40 | uint64(high[2])<<48
			t += period
			binary.LittleEndian.PutUint32(x[auxTraceHead+at:], uint32(t))
			high[0], high[1], high[2] = byte(t>>32), byte(t>>40), byte(t>>48)
		}
	}
	for _, list := range [][]byte{r.turn, r.undo} {
		for len(list) > 0 {
			n := int(binary.LittleEndian.Uint16(list[6:]))
			x := list[:n]
			add(x[n-sampleIDTime:], period)
			if binary.LittleEndian.Uint32(x) == recordAux {
				add(x[8:], r.sizes[binary.LittleEndian.Uint32(x[n-16:])])
			}
			list = list[n:]
		}
	}
}

// repeat makes a perf.data directory of the recording in dir, repeated n times, at path.
func repeat(t *testing.T, dir, path string, n int) {
	t.Helper()
	r := readRepeated(t, filepath.Join(dir, "data"))
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(path, "data"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.writeTo(f, n); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(path, "kcore_dir"))
	if err := os.Symlink(filepath.Join(dir, "kcore_dir"), filepath.Join(path, "kcore_dir")); err != nil {
		t.Fatal(err)
	}
}

// TestLong would catch a long recording that is not the short one, repeated: that benchmarks
// would run over gaps. Where PTDECODE_LONG names a new folder, it is made there of PTDECODE_TURNS
// turns: 600 are 1.08 GB of trace.
func TestLong(t *testing.T) {
	dir := filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "tracepoints", "perf.data")
	if out := os.Getenv("PTDECODE_LONG"); out != "" {
		n, err := strconv.Atoi(os.Getenv("PTDECODE_TURNS"))
		if err != nil {
			t.Fatal(err)
		}
		repeat(t, dir, out, n)
		return
	}
	testsize.OnlyFull(t)
	out := filepath.Join(t.TempDir(), "perf.data")
	repeat(t, dir, out, 2)
	short, long := countAll(t, dir), countAll(t, out)
	if short.Gaps+long.Gaps > 0 || short.Instructions.Ambiguous+long.Instructions.Ambiguous > 0 {
		t.Errorf("%d gaps, %d instructions are ambiguous", long.Gaps, long.Instructions.Ambiguous)
	}
	if a, b := short.Instructions.N, long.Instructions.N; a == 0 || b != 2*a {
		t.Errorf("%d instructions, repeated %d", a, b)
	}
}

// countAll counts what a recording executed.
func countAll(t *testing.T, file string) *counts.Counter {
	t.Helper()
	s, err := decoder.Open(decoder.Config{Recording: file})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := counts.New(s, &host.Filter{}, counts.Options{Bare: true})
	if err := s.Flow(t.Context(), decoder.Query{}, c); err != nil {
		t.Fatal(err)
	}
	return c
}
