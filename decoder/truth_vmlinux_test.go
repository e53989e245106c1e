package decoder

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/simrec"
)

// builtKernel is a simulated machine's kernel as its vmlinux has it: before boot set its
// static branches and alternatives.
type builtKernel struct {
	text    []byte
	at      uint64 // where text lies
	labels  []byte // the jump table
	alts    []byte // .altinstructions
	repl    []byte // what alternatives put
	changed int    // sites that boot changed
	tables  uint64 // where labels lie, and the other tables behind them
	machine elf.Machine
}

// Where the made-up vmlinux keeps its tables, behind the first.
const (
	builtAlts = 0x10000
	builtRepl = 0x20000
	builtKeys = 0x30000
)

// build takes back what boot did to the kernel of r. Branches that boot toggled share
// keys, and so do those that it left as they were. Fences were NOPs.
// One in lies of the branches that boot toggled is not in the table; 0: all are.
func build(r *sim.Run, rnd *rand.Rand, lies int) *builtKernel {
	k := &builtKernel{at: r.Start[0].Addr, text: bytes.Clone(r.Start[0].Bytes), tables: 0xffffffff82000000, machine: elf.EM_X86_64}
	key := [2]uint64{0, 16}
	for i := range r.Branches {
		b := &r.Branches[i]
		toggled := rnd.IntN(3) / 2
		code := k.text[b.Addr-k.at:][:b.Len]
		if toggled == 1 {
			k.changed++
			if code[0] == 0xe9 || code[0] == 0xeb {
				copy(code, map[int][]byte{2: {0x66, 0x90}, 5: {0x0f, 0x1f, 0x44, 0, 0}}[b.Len])
			} else if b.Len == 2 {
				code[0], code[1] = 0xeb, byte(b.Target-b.Addr-2)
			} else {
				code[0] = 0xe9
				binary.LittleEndian.PutUint32(code[1:], uint32(b.Target-b.Addr-5))
			}
		}
		if rnd.IntN(2) == 0 {
			key[toggled] += 32
		}
		if toggled == 1 && lies > 0 && rnd.IntN(lies) == 0 {
			continue
		}
		k.label(b.Addr, b.Target, key[toggled])
	}
	k.repl = []byte{0x0f, 0xae, 0xe8} // lfence
	seen := map[uint64]bool{}
	for c := range r.Codes {
		x := &r.Codes[c]
		if !bytes.Equal(x.Fetched(), k.repl) || x.IP-k.at >= uint64(len(k.text)) || seen[x.IP] || !bytes.HasPrefix(k.text[x.IP-k.at:], k.repl) {
			continue
		}
		seen[x.IP] = true
		k.changed++
		copy(k.text[x.IP-k.at:], "\x0f\x1f\x00")
		k.alternative(x.IP, 3, 3*32+18, 0, 3)
	}
	end := k.at + uint64(len(k.text)) // a table has one at least
	k.text = append(k.text, 0x0f, 0x1f, 0x00)
	k.alternative(end, 3, 3*32+18, 0, 3)
	return k
}

// label adds a static branch of a key.
func (k *builtKernel) label(addr, target, key uint64) {
	at := k.tables + uint64(len(k.labels))
	k.labels = binary.LittleEndian.AppendUint32(k.labels, uint32(addr-at))
	k.labels = binary.LittleEndian.AppendUint32(k.labels, uint32(target-at-4))
	k.labels = binary.LittleEndian.AppendUint64(k.labels, k.tables+builtKeys+key-at-8)
}

// alternative adds an entry for n bytes at addr: what repl has from an index on, with CPUs
// that have a feature. Those of 3*32+18 order RDTSC by a fence.
func (k *builtKernel) alternative(addr uint64, n byte, feature uint16, from uint64, of byte) {
	at := k.tables + builtAlts + uint64(len(k.alts))
	k.alts = binary.LittleEndian.AppendUint32(k.alts, uint32(addr-at))
	k.alts = binary.LittleEndian.AppendUint32(k.alts, uint32(k.tables+builtRepl+from-at-4))
	k.alts = binary.LittleEndian.AppendUint16(k.alts, feature)
	k.alts = append(k.alts, n, of)
}

// file returns the kernel as an ELF file.
func (k *builtKernel) file() []byte {
	parts := []struct {
		name  string
		addr  uint64
		data  []byte
		flags elf.ProgFlag
	}{
		{".text", k.at, k.text, elf.PF_R | elf.PF_X},
		{".data", k.tables, k.labels, elf.PF_R | elf.PF_W},
		{".altinstructions", k.tables + builtAlts, k.alts, elf.PF_R | elf.PF_W},
		{".altinstr_replacement", k.tables + builtRepl, k.repl, elf.PF_R | elf.PF_W},
		{".keys", k.tables + builtKeys, make([]byte, 0x8000), elf.PF_R | elf.PF_W},
	}
	le := binary.LittleEndian
	out := make([]byte, 0x1000)
	names := []byte{0}
	heads := []elf.Section64{{}}
	var progs []elf.Prog64
	for _, p := range parts {
		flags := elf.SHF_ALLOC
		if p.flags&elf.PF_X != 0 {
			flags |= elf.SHF_EXECINSTR
		}
		heads = append(heads, elf.Section64{Name: uint32(len(names)), Type: uint32(elf.SHT_PROGBITS), Flags: uint64(flags), Addr: p.addr, Off: uint64(len(out)), Size: uint64(len(p.data))})
		progs = append(progs, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(p.flags), Off: uint64(len(out)), Vaddr: p.addr, Filesz: uint64(len(p.data)), Memsz: uint64(len(p.data))})
		names = append(append(names, p.name...), 0)
		out = append(out, p.data...)
	}
	heads = append(heads, elf.Section64{Name: uint32(len(names)), Type: uint32(elf.SHT_STRTAB), Off: uint64(len(out))})
	names = append(names, ".shstrtab\x00"...)
	heads[len(heads)-1].Size = uint64(len(names))
	out = append(out, names...)
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(k.machine), Version: 1, Phoff: 64, Shoff: uint64(len(out)), Ehsize: 64, Phentsize: 56, Phnum: uint16(len(progs)), Shentsize: 64, Shnum: uint16(len(heads)), Shstrndx: uint16(len(heads) - 1)}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	var head, tail bytes.Buffer
	binary.Write(&head, le, h)
	binary.Write(&head, le, progs)
	binary.Write(&tail, le, heads)
	copy(out, head.Bytes())
	return append(out, tail.Bytes()...)
}

// builtSession opens r with a vmlinux and kallsyms in place of an image.
func builtSession(t testing.TB, dir string, r *sim.Run, lies int) (s *Session, changed int) {
	t.Helper()
	k := build(r, rand.New(rand.NewPCG(r.Config.Seed, 0xb0017)), lies)
	names := fmt.Sprintf("%x T _text\n%x D __start___jump_table\n%x D __stop___jump_table\n", k.at, k.tables, k.tables+uint64(len(k.labels)))
	for _, y := range r.Symbols {
		names += fmt.Sprintf("%x T %s\n", y.Addr, y.Name)
	}
	path := filepath.Join(dir, fmt.Sprint(r.Config.Seed))
	for name, b := range map[string]string{"vmlinux": string(k.file()), "kallsyms": names} {
		if err := os.WriteFile(path+name, []byte(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := simrec.Recording(r, nil)
	s = &Session{rec: f, cfg: Config{Kcore: path + "vmlinux", Kallsyms: path + "kallsyms"}}
	if err := s.assemble(); err != nil {
		t.Fatal(err)
	}
	return s, k.changed
}

// TestVmlinuxNoPlace would catch a kernel that is laid somewhere though nothing tells where it ran,
// and one that is left out without a word of what to give.
func TestVmlinuxNoPlace(t *testing.T) {
	r := sim.Simulate(sim.Draw(1))
	path := filepath.Join(t.TempDir(), "vmlinux")
	if err := os.WriteFile(path, build(r, rand.New(rand.NewPCG(1, 0xb0017)), 0).file(), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Session{rec: simrec.Recording(r, nil), cfg: Config{Kcore: path}}
	if err := s.assemble(); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	told := slices.ContainsFunc(s.Warnings(), func(w Warning) bool {
		return w.Doubt && w.NoText && strings.Contains(w.What, "where boot put the kernel is not known") && strings.Contains(w.Hint, "--kallsyms FILE")
	})
	if !told || s.boot != nil || len(s.from.img.Ranges()) > 0 {
		t.Errorf("warnings %+v; the image has %x", s.Warnings(), s.from.img.Ranges())
	}
}

// TestTruthVmlinux would catch claims that rest on what boot made of a vmlinux, where it
// made something else of it. The simulated machine's kernel is given in build-time form,
// with the tables of its static branches and alternatives. Each claim must have been
// executed, but for those that the trace cannot tell from what was.
func TestTruthVmlinux(t *testing.T) {
	first, n := seeds(t, 4, 12)
	truthVmlinux(t, first, n, 0)
}

// TestTruthVmlinuxLies would catch claims that rest on what the trace settled by wrong code of
// which no table tells. Every eighth branch that boot toggled is in none. The wrong
// code of these machines leaves gaps, and their claims are right only if what it settled is taken back.
// Wrong claims count as alike where the packets agree with them past as many stated targets as doubt
// goes back over. There are no others. In four machines there would be if contradictions took nothing back. In the
// last one there would be if a return from an exception confirmed what led to a stated address before it.
//
// SEEDS and FIRST say which machines to try instead.
func TestTruthVmlinuxLies(t *testing.T) {
	if first, n := seeds(t, 0, 0); n > 0 {
		truthVmlinux(t, first, n, 8)
		return
	}
	for _, seed := range keptRuns(t, []uint64{41, 1289, 45, 85, 177, 232, 582}) {
		truthVmlinux(t, seed, 1, 8)
	}
}

// TestTruthVmlinuxTwo would catch claims that are certain because the trace contradicts each other
// version of a site by itself. There it fits a change of that site and of one before it. In the last two
// machines what was learned is wrong at two sites, and fits the whole trace.
func TestTruthVmlinuxTwo(t *testing.T) {
	for _, seed := range []uint64{20200, 30492, 30781} {
		truthVmlinux(t, seed, 1, 0)
	}
}

// truthVmlinux decodes n machines with a vmlinux each, in which one in lies of the sites that
// boot changed is in no table.
func truthVmlinux(t *testing.T, first, n uint64, lies int) {
	t.Helper()
	dir := t.TempDir()
	type part struct {
		shortTally
		changed int
		trouble []string
	}
	parts := make([]part, runtime.GOMAXPROCS(0))
	eachSeed(first, n, func(i int, seed uint64) {
		r := sim.Simulate(sim.Draw(seed))
		s, changed := builtSession(t, dir, r, lies)
		defer s.Close()
		got := steps{}
		if err := s.Flow(context.Background(), Query{Jobs: 1}, got); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		p := &parts[i]
		p.changed += changed
		twin := &alikeTwin{codes: r.Codes, code: func(dst []byte, addr uint64, at event.Epoch) int { return s.Code(dst, 0, addr, at) }}
		w := newWitnesses(r, nil, nil)
		w.built = true
		p.runs++
		before := p.wrong[byNobody]
		var told []string
		for c := range r.CPUs {
			p.insns += len(r.CPUs[c].Insns)
			if lies > 0 {
				twin.stated = twin.statedBy(simPackets(r, s.Streams()[c]))
			}
			if msg := p.judge(w, twin, got[c], c); msg != "" {
				told = append(told, fmt.Sprintf("seed %d cpu %d (%v, work %b): %s", seed, c, r.Config.Timing, r.Config.Work, msg))
			}
		}
		if n := p.wrong[byNobody] - before; n > 0 {
			p.trouble = append(p.trouble, fmt.Sprintf("seed %d: %d wrong claims", seed, n))
			p.trouble = append(p.trouble, told...)
		}
	})
	var all shortTally
	var trouble []string
	changed := 0
	for i := range parts {
		all.add(&parts[i].shortTally)
		trouble, changed = append(trouble, parts[i].trouble...), changed+parts[i].changed
	}
	slices.Sort(trouble)
	if len(trouble) > 0 {
		t.Error(strings.Join(trouble, "\n"))
	}
	t.Logf("%d runs, %d sites that boot changed: %d instructions, %d claims, %d ambiguous, %d gaps, settled %s %%; %d wrong, and %d that the trace cannot tell from what ran",
		all.runs, changed, all.insns, all.claims, all.ambiguous, all.gaps, share(all.settled, all.insns), all.wrong[byNobody], all.alike)
}
