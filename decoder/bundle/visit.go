package bundle

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// visit reads what the verbs read: it opens the recording, decodes all of it, and looks
// at each change and at the code that ran. Then it cuts the symbols to those that were
// asked for.
func (b *Bundle) visit(ctx context.Context, c recording.Config, o *Options) error {
	s, err := decoder.Open(decoder.Config(c))
	if err != nil {
		return err
	}
	defer s.Close()
	v := &visitor{s: s, sourced: o.mostDebug() > 0, blocks: map[*decoder.Block]bool{}, functions: map[functionAt]bool{}, pages: map[uint64]bool{}}
	v.changes()
	if err := s.Flow(ctx, decoder.Query{Jobs: o.Jobs, Progress: o.Progress}, v); err != nil {
		return err
	}
	v.changes() // what was learned may have made others
	for k := range v.blocks {
		if s.Kernel(k.Addr) { // what exports ask for: where the kernel lies
			s.Object(0, k.Addr, 0)
			break
		}
	}
	learned, _ := s.Learned()
	for _, l := range learned {
		v.code(l.Addr, len(l.Code))
	}
	for _, x := range s.Sources() {
		if x.Kind == "kallsyms" && s.Symbols() != nil {
			b.watch.Instead(x.Path, []byte(v.symbols(b.watch.Asked())))
			if late := filepath.Join(filepath.Dir(filepath.Dir(x.Path)), "kcore_late", "kallsyms"); slices.Contains(b.watch.Paths(), late) {
				b.watch.Instead(late, nil) // its lines are among the others
			}
		}
	}
	return b.dropAlike()
}

// visitor keeps in mind what is asked of the symbols, and asks what verbs would.
type visitor struct {
	s         *decoder.Session
	sourced   bool // source lines are wanted
	blocks    map[*decoder.Block]bool
	pages     map[uint64]bool     // where something ran or changed
	functions map[functionAt]bool // those whose code was read
}

// page is how much code has all its symbols in the bundle if some of it ran, bytes.
const page = 4096

// around is how much code to either side of a change is taken, bytes: for those who look
// at what lies beside it.
const around = 64

// changes looks at each change of the journal as pokes and text print it.
func (v *visitor) changes() {
	for k := range v.s.Pokes() {
		n := int(k.Range().Len)
		for _, at := range []event.Epoch{event.Epoch(k.Index), event.Epoch(k.Index) + 1} {
			code := make([]byte, n+2*around)
			got, _ := v.s.Text().Fetch(code, k.Addr-around, at)
			if got > around {
				v.lines(code[around:got], k.Addr, n, k.Time)
			}
		}
		v.lines(k.Old, k.Addr, len(k.Old), k.Time)
		v.lines(k.New, k.Addr, len(k.New), k.Time)
		v.code(k.Addr, n)
	}
}

// lines disassembles code at addr up to the instruction that holds byte n-1.
func (v *visitor) lines(code []byte, addr uint64, n int, time uint64) {
	for off := 0; off < min(n, len(code)); {
		_, size := report.Insn(v.s, code[off:], addr+uint64(off), time)
		off += size
	}
}

// code looks at n bytes of code as check and text do.
func (v *visitor) code(addr uint64, n int) {
	for _, at := range []event.Epoch{0, event.Epoch(v.s.Text().Len())} {
		code := make([]byte, n+around)
		v.s.Text().Fetch(code, addr, at)
	}
	v.s.KernelSymbol(addr, 0)
	v.pages[addr&^(page-1)] = true
}

// maxBlocks bounds the blocks that are kept in mind, and maxFunctions the functions.
const maxBlocks, maxFunctions = 1 << 20, 1 << 20

// Flow looks at what ran as flow prints it: each instruction once.
func (v *visitor) Flow(b *decoder.Batch) error {
	for i := range b.Ranges {
		r := &b.Ranges[i]
		if v.blocks[r.Block] {
			continue
		}
		if len(v.blocks) >= maxBlocks {
			clear(v.blocks)
		}
		v.blocks[r.Block] = true
		v.block(r.Block, b.Stamps[r.Stamp].Time.Likely())
	}
	for i := range b.Notes {
		n := &b.Notes[i]
		v.address(n.IP)
		v.address(n.Gap.IP)
		v.address(n.Event.IP)
		v.address(n.Event.From)
		for _, x := range n.Others {
			v.address(x.IP)
		}
	}
	return nil
}

// address asks for the name of an address that a note states.
func (v *visitor) address(addr uint64) {
	if addr != 0 {
		v.s.KernelSymbol(addr, 0)
	}
}

// block looks at the instructions of a block.
func (v *visitor) block(b *decoder.Block, time uint64) {
	v.s.Symbol(b.Space, b.Addr, time)
	if v.sourced {
		v.s.Lines(b.Space, b.Addr, time) // reads all that its file tells of lines
	}
	v.function(b, time)
	if b.Space == 0 {
		v.pages[b.Addr&^(page-1)] = true
	}
	if b.Target != 0 {
		v.s.Symbol(b.Space, b.Target, time)
	}
	code := make([]byte, b.End-b.Addr)
	code = code[:v.s.Code(code, b.Space, b.Addr, b.Span.From)]
	at := b.Addr
	for _, n := range b.Lens {
		if len(code) < int(n) {
			return
		}
		v.s.Symbol(b.Space, at, time)
		v.s.Format(code[:n], at, b.Mode, func(a uint64) (string, uint64) {
			v.s.Symbol(b.Space, a, time)
			return "", 0
		})
		code, at = code[n:], at+uint64(n)
	}
}

// symbols returns the lines of kallsyms that name what was asked for.
func (v *visitor) symbols(named []uint64) string {
	pages := slices.Sorted(maps.Keys(v.pages))
	holds := func(list []uint64, from, last uint64) bool {
		i, _ := slices.BinarySearch(list, from)
		return i < len(list) && list[i] <= last
	}
	return v.s.Symbols().Cut(func(addr, last uint64) bool {
		return holds(named, addr, last) || holds(pages, addr&^(page-1), last)
	})
}
