package decoder

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// original is a recording with all that is true of it: what cases are made of.
type original struct {
	name    string
	config  Config
	session *Session
	ran     []*executed // by stream
	stated  []stated    // by stream
	trace   [][]byte    // by stream
	pokes   []kcore.Poke
	image   *image.Image // of the start
	symbols *symbols.Table
	sites   []site // that no poke names, by address
}

// stated is the events of a stream at which the trace states an address.
type stated struct {
	events  []int64 // offsets of all events
	targets []int64 // of those that say where an indirect branch went, or where tracing goes on
	checked []int64 // of those whose address the flow must reach by itself
}

// siteKind says what the kernel does with a site.
type siteKind uint8

const (
	jumpLabel  siteKind = iota
	staticCall          // also the jump of a tail call
	ftraceSite
	anyInsn // an instruction where a probe can be
)

func (k siteKind) String() string {
	return [...]string{"jump label", "static call", "ftrace", "probe"}[k]
}

// site is a place in the kernel's code that can be patched.
type site struct {
	kind   siteKind
	addr   uint64
	target uint64 // jumpLabel: where it can jump to
	tail   bool   // staticCall: a jump
	ran    bool   // some CPU executed it
}

// readOriginal reads a recording of kernel-pokes-x86; tables gives where its kernel
// keeps its sites.
func readOriginal(t testing.TB, name string, tables *siteTables) *original {
	t.Helper()
	dir := filepath.Join(dataDir(t), "kernel-pokes-x86", name)
	o := &original{name: name, config: Config{Recording: filepath.Join(dir, "perf.data")}}
	o.read(t, func(st *Stream) string { return filepath.Join(dir, fmt.Sprintf("cpu%d.ips.zst", st.CPU)) })
	o.sites = tables.in(t, o)
	return o
}

// read opens the recording and decodes it. truth names the file of what a stream's CPU executed.
func (o *original) read(t testing.TB, truth func(st *Stream) string) {
	t.Helper()
	s := opened(t, o.config)
	o.session = s
	o.ran = executedBy(t, s, func(i int) []uint64 { return testsize.Executed(t, truth(s.Streams()[i])) })
	for _, st := range s.Streams() {
		o.stated = append(o.stated, statedBy(st))
		o.trace = append(o.trace, bytes.Clone(st.Data.Bytes(0, st.Size)))
	}
	for i := range s.Text().Len() {
		o.pokes = append(o.pokes, *s.Text().Poke(i))
	}
	o.image, o.symbols = s.Text().Image(), s.Symbols()
}

// claims counts what was printed, by stream, against what was executed.
func (o *original) claims(got prints) (n claimCount) {
	for i, ran := range o.ran {
		if got[i] == nil {
			got[i] = &printed{}
		}
		n.judge(got[i], ran)
	}
	return n
}

// statedBy lists where the events of st lie.
func statedBy(st *Stream) (all stated) {
	for e := range stream.Events(st, false) {
		all.events = append(all.events, e.Off)
		switch {
		case e.Kind == event.Target || e.Kind == event.Enable:
			all.targets = append(all.targets, e.Off)
		case (e.Kind == event.Async || e.Kind == event.AsyncDisable) && e.Flags&event.FlagHere == 0,
			e.Kind == event.Sync && e.HasIP() && e.Flags&event.FlagRestated != 0, e.Kind == event.Status && e.HasIP():
			all.checked = append(all.checked, e.Off)
		}
	}
	return all
}

// siteTables is where the kernel of the recordings keeps the addresses of its sites.
// Its vmlinux has no symbols. The kallsyms of the recording tracepoints has those of
// the tables, and the recordings are of one kernel.
type siteTables struct {
	vmlinux string
	// Distances from _text of __start_ and __stop_ of jump_table, static_call_sites and
	// mcount_loc.
	at [3][2]uint64
}

// readSiteTables finds the tables.
func readSiteTables(t testing.TB) *siteTables {
	t.Helper()
	dir := filepath.Join(dataDir(t), "kernel-pokes-x86")
	k, err := symbols.OpenKallsyms(filepath.Join(dir, "tracepoints", "perf.data", "kcore_dir", "kallsyms"))
	if err != nil {
		t.Fatal(err)
	}
	tb := &siteTables{vmlinux: filepath.Join(dir, "vmlinux.zst")}
	text, _ := k.Addr("_text")
	for i, name := range []string{"__jump_table", "_static_call_sites", "_mcount_loc"} {
		for j, edge := range []string{"__start_", "__stop_"} {
			a, ok := k.Addr(edge + name)
			if name != "__jump_table" {
				a, ok = k.Addr(edge + name[1:])
			}
			if !ok {
				t.Fatalf("kallsyms have no %s%s", edge, name)
			}
			tb.at[i][j] = a - text
		}
	}
	return tb
}

// in returns the sites of o's image.
func (tb *siteTables) in(t testing.TB, o *original) (list []site) {
	t.Helper()
	m, err := image.Open(tb.vmlinux, image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	first := linkedAt(m)
	text, ok := o.symbols.Find("_text")
	if !ok {
		t.Fatal("no symbol _text")
	}
	shift := text.Addr - first
	read := func(i int) []byte {
		b := make([]byte, tb.at[i][1]-tb.at[i][0])
		if n := m.ReadAt(b, first+tb.at[i][0]); n < len(b) {
			t.Fatalf("vmlinux: table %d: %d bytes of %d", i, n, len(b))
		}
		return b
	}
	le := binary.LittleEndian
	rel := func(b []byte, at uint64) uint64 { return at + uint64(int64(int32(le.Uint32(b)))) + shift }
	for at, b := first+tb.at[0][0], read(0); len(b) >= 16; at, b = at+16, b[16:] { // struct jump_entry
		list = append(list, site{kind: jumpLabel, addr: rel(b, at), target: rel(b[4:], at+4)})
	}
	for at, b := first+tb.at[1][0], read(1); len(b) >= 8; at, b = at+8, b[8:] { // struct static_call_site
		list = append(list, site{kind: staticCall, addr: rel(b, at), tail: b[4]&1 != 0})
	}
	for b := read(2); len(b) >= 8; b = b[8:] {
		list = append(list, site{kind: ftraceSite, addr: le.Uint64(b) + shift})
	}
	list = slices.DeleteFunc(list, func(x site) bool { return !o.known(x.addr) })
	for i := range list {
		list[i].ran = o.executed(list[i].addr)
	}
	return list
}

// linkedAt returns where the vmlinux m has _text.
func linkedAt(m *image.Image) uint64 {
	for _, r := range m.Ranges() {
		if r.Addr >= 1<<63 {
			return r.Addr
		}
	}
	return m.Ranges()[0].Addr
}

// known reports whether o's image holds code at addr that no poke changes.
func (o *original) known(addr uint64) bool {
	var b [8]byte
	if o.image.ReadAt(b[:], addr) < len(b) {
		return false
	}
	return !slices.ContainsFunc(o.pokes, func(p kcore.Poke) bool {
		return p.Addr < addr+5 && addr < p.Addr+uint64(max(len(p.Old), len(p.New)))
	})
}

// executed reports whether some CPU executed the instruction at addr.
func (o *original) executed(addr uint64) bool {
	return slices.ContainsFunc(o.ran, func(x *executed) bool { return x.ran[addr] })
}

// The NOPs of patchable length, and what a static call of a function that returns 0
// becomes (arch/x86/include/asm/nops.h; arch/x86/kernel/static_call.c; v6.1).
var (
	nop2    = []byte{0x66, 0x90}
	nop5    = []byte{0x0f, 0x1f, 0x44, 0x00, 0x00}
	xor5rax = []byte{0x2e, 0x2e, 0x2e, 0x31, 0xc0}
	int3    = []byte{0xcc}
)

// direct returns the call or jump with opcode op at addr to target, 5 bytes.
func direct(op byte, addr, target uint64) []byte {
	return binary.LittleEndian.AppendUint32([]byte{op}, uint32(target-addr-5))
}

// other returns what x holds and another code that the kernel could have put there;
// nil if there is none.
func (x *site) other(o *original, r *rand.Rand) (have, other []byte) {
	b := make([]byte, 5)
	o.image.ReadAt(b, x.addr)
	is := func(c []byte) bool { return bytes.HasPrefix(b, c) }
	switch x.kind {
	case jumpLabel:
		switch {
		case is(nop2):
			return b[:2], []byte{0xeb, byte(x.target - x.addr - 2)}
		case is(nop5):
			return b, direct(0xe9, x.addr, x.target)
		case b[0] == 0xeb && x.addr+2+uint64(int64(int8(b[1]))) == x.target:
			return b[:2], nop2
		case bytes.Equal(b, direct(0xe9, x.addr, x.target)):
			return b, nop5
		}
	case staticCall:
		op := byte(0xe8)
		if x.tail {
			op = 0xe9
		}
		if b[0] != op && !is(nop5) && !is(xor5rax) {
			break
		}
		list := [][]byte{nop5, xor5rax, direct(op, x.addr, o.anyFunction(r)), direct(op, x.addr, o.anyFunction(r))}
		if x.tail {
			list = [][]byte{direct(op, x.addr, o.anyFunction(r)), {0xc3, 0xcc, 0xcc, 0xcc, 0xcc}}
		}
		if to := list[r.IntN(len(list))]; !bytes.Equal(to, b) {
			return b, to
		}
	case ftraceSite:
		if to := o.tracers(); is(nop5) && len(to) > 0 {
			return b, direct(0xe8, x.addr, to[r.IntN(len(to))])
		} else if b[0] == 0xe8 {
			return b, nop5
		}
	case anyInsn:
		if b[0] != 0xcc {
			return b[:1], int3
		}
	}
	return nil, nil
}

// anyFunction returns the address of some function whose code the image holds: one
// that ran, or else one that did not.
func (o *original) anyFunction(r *rand.Rand) uint64 {
	var fs []site
	for _, x := range o.sites {
		if x.kind == ftraceSite {
			fs = append(fs, x)
		}
	}
	return fs[r.IntN(len(fs))].addr
}

// tracers returns what the kernel's own changes of ftrace sites call.
func (o *original) tracers() (list []uint64) {
	for i := range o.pokes {
		p := &o.pokes[i]
		for _, b := range [][]byte{p.Old, p.New} {
			if len(b) == 5 && b[0] == 0xe8 && (bytes.Equal(p.Old, nop5) || bytes.Equal(p.New, nop5)) {
				list = append(list, p.Addr+5+uint64(int64(int32(binary.LittleEndian.Uint32(b[1:])))))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// reopened opens o's recording anew and lets change alter what was read of it.
func (o *original) reopened(t testing.TB, c Config, change func(*recording.Recording)) *Session {
	t.Helper()
	from := recording.Config(c)
	rec, err := recording.Read(&from)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		byTime(rec.Pokes) // as in o.pokes
		change(rec)
	}
	s, err := OpenRecording(rec, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
