package calls_test

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/symbols"
	"github.com/ptdecode/ptdecode/pt"
)

// The functions of hand-made flow, by the letters that its words have for them. They lie in a row, each
// 64 bytes long. n ends with a call, so that a return may lead to the first instruction of k.
const (
	handLetters = "mfghctpbnks"
	handText    = 0xffffffff81000000
	handSize    = 0x40
	handUnnamed = handText - handSize // letter x
	handModule  = 0xffffffffc0000000  // letter y: it has a name from 1,000 ns on
	handUser    = 0x400000            // letter u
)

var handNames = []string{"main", "f", "g", "h", "f.cold", "__x86_indirect_thunk_rax", "__x86_return_thunk", "ftrace_caller", "noreturn", "behind", "__switch_to"}

// handMade is flow by hand.
type handMade struct {
	name string
	// Words: a range is a function's letter, which sixteen bytes of it, and how its block ends: a call,
	// return, jump, iret, or "." for none of these. Behind that stand: 1, a block of one instruction,
	// not two; -, only the first one retired; +, it goes 16 bytes further; ~ ! ?, the verdicts
	// trace, unconfirmed, ambiguous. @N is a moment, ns; @=N one with the place of the last.
	// gap, on, off, async, cut and event are notes. | ends a batch; || what a condenser has.
	flow    string
	detours int // that are taken out at least, where all is one batch
	threads []uint64
}

// session returns what the flow is of.
func (x *handMade) session(t *testing.T) *decoder.Session {
	t.Helper()
	f := recording.New(&recording.Config{})
	f.Meta.PT = pt.Config{TSC: true}
	code := make([]byte, handSize*len(handLetters))
	for i := range code {
		code[i] = 0x90 // nop
	}
	code[handSize*strings.Index(handLetters, "k")-5] = 0xe8 // call
	f.Code = []recording.Code{{Addr: handText, Bytes: code}}
	for i, at := range x.threads {
		f.Processes.Tasks.Ran(0, at, int32(i%2+1), int32(i%2+1))
	}
	for i := range 240 {
		tid, n := int32(i%2+1), i/2%40
		f.Processes.Tasks.Named(uint64(i/80*1_000_000+n*n*5+1), tid, tid, fmt.Sprint("name", n), false)
	}
	f.Processes.Tasks.Seal()
	f.Ksymbols = []symbols.KsymbolRecord{{Time: 1000, Name: "bpf_prog", Addr: handModule, Len: handSize}}
	f.Streams = []*stream.Stream{{Protocol: stream.IntelPT, CPU: 0, TID: -1, Data: stream.Memory(nil)}}
	var list strings.Builder
	for i, name := range handNames {
		if name != "__switch_to" || strings.Contains(x.flow, "s0") {
			fmt.Fprintf(&list, "%016x T %s\n", handText+uint64(i)*handSize, name)
		}
	}
	fmt.Fprintf(&list, "%016x T end\n", handText+uint64(len(handNames))*handSize)
	return named(t, f, []byte(list.String()))
}

// handBlocks are the blocks of words.
type handBlocks map[string]*decoder.Block

// block returns the block of a word.
func (all handBlocks) block(w string) *decoder.Block {
	key := strings.TrimRight(w, "-~!?")
	if b := all[key]; b != nil {
		return b
	}
	at := map[byte]uint64{'x': handUnnamed, 'y': handModule, 'u': handUser}[w[0]]
	if at == 0 {
		at = handText + uint64(strings.IndexByte(handLetters, w[0]))*handSize
	}
	b := decoder.Block{Addr: at + uint64(w[1]-'0')*16, Lens: []uint8{8, 8}, Mode: isa.Mode64}
	if strings.Contains(w, "+") {
		b.Lens = []uint8{16, 16}
	}
	if strings.Contains(w, "1") && strings.LastIndex(w, "1") > 1 {
		b.Lens = []uint8{16}
	}
	b.N = uint16(len(b.Lens))
	b.Class = map[byte]isa.Class{'c': isa.Call, 'r': isa.Return, 'j': isa.JumpInd, 'i': isa.FarReturn}[w[2]]
	if w[0] == 'u' {
		b.Space = 1
	}
	p := b.Part(0, int(b.N))
	p.Number = uint32(len(all) + 1)
	all[key] = p
	return p
}

// batches returns the flow's batches; nil stands for the end of what a condenser has. Every bit of cuts that is set
// ends a batch behind another word.
func (x *handMade) batches(all handBlocks, cuts uint64) (list []*decoder.Batch) {
	b := &decoder.Batch{}
	var stamp decoder.Stamp
	has, end := false, uint64(handText)
	cut := func() {
		if len(b.Ranges)+len(b.Notes) > 0 {
			list = append(list, b)
		}
		b, has = &decoder.Batch{}, false
	}
	for i, w := range strings.Fields(x.flow) {
		if cuts>>(i%64)&1 != 0 {
			cut()
		}
		kinds := map[string]decoder.NoteKind{"gap": decoder.NoteGap, "on": decoder.NoteTrackOn, "off": decoder.NoteTrackOff, "cut": decoder.NoteCut, "async": decoder.NoteEvent, "event": decoder.NoteEvent}
		kind, note := kinds[w]
		switch {
		case w == "|":
			cut()
		case w == "||":
			cut()
			list = append(list, nil)
		case w[0] == '@':
			v := strings.TrimPrefix(w[1:], "=")
			if len(v) == len(w)-1 {
				stamp.Off++
			}
			ns, _ := strconv.ParseUint(v, 10, 64)
			stamp.Time, has = event.Time{Lo: ns, Hi: ns + 10}, false
		case note:
			n := decoder.Note{At: len(b.Ranges), Kind: kind, Poke: -1, Event: event.Event{Time: stamp.Time}}
			if w == "async" {
				n.Event.Kind, n.Event.From = event.Async, end
			} else {
				n.Event.Kind = event.Context
			}
			b.Notes = append(b.Notes, n)
		default:
			k := all.block(w)
			r := decoder.BatchRange{Block: k, N: k.N}
			if !has {
				b.Stamps, has = append(b.Stamps, stamp), true
			}
			r.Stamp = uint32(len(b.Stamps) - 1)
			for v, c := range map[decoder.Verdict]string{decoder.Trace: "~", decoder.Unconfirmed: "!", decoder.Ambiguous: "?"} {
				if strings.Contains(w, c) {
					r.Verdict = v
				}
			}
			if strings.Contains(w, "-") && k.N > 1 {
				r.N--
			}
			b.Ranges, end = append(b.Ranges, r), k.End
		}
	}
	cut()
	return append(list, nil)
}

// handTree is what a tree tells of flow.
type handTree struct {
	of                 counted
	unmatched, unwound uint64
	detours            int
}

// takes gives batches to a tree of s: what a condenser leaves of them, in parts of so many ranges, or all. The
// condenser had before before that.
func takes(s *decoder.Session, before, list []*decoder.Batch, part int) (x handTree) {
	tree, of := countingTree(s)
	var take func(out, b *decoder.Batch)
	if part > 0 {
		take = tree.Condenser()
	}
	out := &decoder.Batch{}
	for _, b := range before {
		if take(out, b); b == nil {
			out = &decoder.Batch{}
		}
	}
	for _, b := range list {
		switch {
		case take == nil && b != nil:
			_ = tree.Flow(b)
		case take != nil && b != nil:
			take(out, b)
		case take != nil:
			take(out, nil)
			for i := range out.Ranges {
				if flow.IsDetour(&out.Ranges[i]) {
					x.detours++
				}
			}
			lendParts(tree, out, part)
			out = &decoder.Batch{}
		}
	}
	tree.Close()
	x.of, x.unmatched, x.unwound = of, tree.Unmatched, tree.Unwound
	return x
}

// lendParts gives b to a tree in parts of so many ranges, as a merged flow does.
func lendParts(tree *calls.Tree, b *decoder.Batch, part int) {
	with, _ := flow.CondensedOf(b)
	note := 0
	for from := 0; ; from += part {
		to := min(from+part, len(b.Ranges))
		p := &decoder.Batch{Stamps: b.Stamps, Ranges: b.Ranges[from:to]}
		for ; note < len(b.Notes) && (b.Notes[note].At < to || to == len(b.Ranges)); note++ {
			n := b.Notes[note]
			n.At -= from
			p.Notes = append(p.Notes, n)
		}
		flow.Condense(p, with, 0)
		_ = tree.Flow(p)
		if to == len(b.Ranges) {
			return
		}
	}
}

// compareHand returns how a tree's calls differ with condensed flow, "" if they don't. The condenser had the same
// flow before, if it is to know its blocks.
func (x *handMade) compareHand(s *decoder.Session, cuts uint64, part int, knows bool) (string, int) {
	all := handBlocks{}
	var before []*decoder.Batch
	if knows {
		before = x.batches(all, 0)
	}
	want, got := takes(s, nil, x.batches(all, 0), 0), takes(s, before, x.batches(all, cuts), part)
	if maps.Equal(want.of, got.of) && want.unmatched == got.unmatched && want.unwound == got.unwound {
		return "", got.detours
	}
	return fmt.Sprintf("%d, %d\n%v, of all of the flow %d, %d\n%v", got.unmatched, got.unwound, got.of, want.unmatched, want.unwound, want.of), got.detours
}

// handCases are flow that shows what must end a detour, and what one must tell of.
var handCases = []handMade{
	{name: "an interrupt ends it", flow: "@300 g1c1 m0r async g2r s0c", threads: switching},
	{name: "another interrupt", flow: "@110 k1c async k0r k2c s0r", threads: rarely},
	{name: "another thread may run", flow: "@100 f0c m0j f1c @200 h0r1 f2r", threads: switching},
	{name: "the records alone tell of threads", flow: "@100 g2c @=200 h0r g3r", threads: switching},
	{name: "no time is known", flow: "g0c g0r g1j", threads: switching},
	{name: "a part of a call", flow: "@100 f1c- k0r f2r"},
	{name: "a part of a return", flow: "@100 h1c f0r- h2."},
	{name: "a jump to what was moved out", flow: "@100 k0c @200 g1c f0j c0r g2r", threads: rarely},
	{name: "a thunk returns", flow: "@110 g1c t0r1 g2.", threads: switching},
	{name: "a thunk leads into a function", flow: "@100 h2c t0r g1r h3r1"},
	{name: "a thunk takes time", flow: "@100 p0c @110 k1c p0r @150 g0r k2c", detours: 1},
	{name: "a retpoline calls itself", flow: "@100 m0c f0. f1c t0c t2j1 t2r g0. g1r f2r m1.", detours: 1},
	{name: "a retpoline's thunk calls another function", flow: "@100 m0c f0. f1c t0c g1r1 t1r f2r m1."},
	{name: "instructions and time of calls in it", flow: "@100 h0c c0c h0j f0r c1. c3r h1c", threads: switching},
	{name: "a jump within a call takes time", flow: "@50 f1c m0j @60 m0. m1r1 f2.", detours: 1},
	{name: "the time of what took its place counts in the caller", flow: "@50 m0c f0. @60 f1c g0. @70 g1j h0. @80 h1r f2r m1r", detours: 1},
	{name: "the same for a caller that is not taken out", flow: "@50 k0c m0. m1c g0. @70 g1j h0. h1r m2. || m3r k1.", detours: 1},
	{name: "a call in it takes time", flow: "@100 g0c m0. m1c h0. @110 h3r m2r g1c", detours: 1},
	{name: "time passes behind the return", flow: "@100 h1c m0c m0r @110 m1r h2r", detours: 1},
	{name: "a return to the call in progress leads to a function", flow: "@100 m0c n3c t0r1 k0r1 k0. k1r1 m1."},
	{name: "a call from before awaits the return", flow: "@100 m0c n3c g0. || g1c t0r1 k0r1 g2r1 k0. k1r1 m1r"},
	{name: "the place before counts where threads are switched", flow: "@100 m0. m1c f0. @200 f1. @300 f2r m2c s0r m3.", threads: []uint64{0, 130, 150}, detours: 1},
	{name: "a jump to a return thunk", flow: "@100 m0c f0. f1j p0r1 m1c g0j p0r1 m2.", detours: 2},
	{name: "a function with a name for a time", flow: "@900 m0c f0. f1c y0. @1100 y1j y2r f2r m1c y0r m2.", detours: 0},
	{name: "a block of two functions", flow: "@100 m0c f0j f3.+ g1r m1.", detours: 0},
	{name: "an iret in it", flow: "@100 m0c f0. f1i f2r m1."},
	{name: "code without a name", flow: "@100 m0c f0j x1. x2r m1."},
	{name: "a trampoline calls", flow: "@100 m0c f0c b0c g0r b1r f1r m1."},
	{name: "a return to another place", flow: "@100 m0c f0c g0r f2r m1."},
	{name: "what is in doubt", flow: "@100 m0c f0? f1r m1c f0~ f1r m2c f0! f1r m3."},
	{name: "another thread runs a while behind its record", flow: "@500 m0. @2000 m1. @3000 m1. @50000 m1c f0. @102000 f1. @103000 f1. @104000 f2r m2. s0.", threads: []uint64{0, 1000}},
	{name: "a return to another place of a caller", flow: "@100 k0c m0j m3r k1c m0. m1c f0. f1r m3. m3r k2."},
	{name: "a thunk that was jumped to calls", flow: "@100 k0c m0. m1j t0c g0. g1r t1. t1r k1."},
	{name: "a return leads behind the caller, to a thunk", flow: "@100 g0c c0. c3c f0. f1r t0c h0. h1r t1. t1r g1."},
	{name: "a thunk jumps into a function that calls", flow: "@100 m0c f0. f1c t0j g1c h0r g2r f2. f3r m1."},
	{name: "what is in doubt, in a call", flow: "@100 k0c m0j m2j m3r k1c m0. m1c f0? f1r m2c g0~ g1r m3. m3r k2."},
	{name: "parts of a call and of a return, in a call", flow: "@100 k0c m0j m1j m3r k1c m0. m1c f0. f1r m2. m1c- f0. f1r m2. m2c g0. g1r m3. m2c g0. g1r- m3. m3r k2."},
	{name: "doubt in the midst of a call in a call", flow: "@100 k0c m0j m2j m3r k1c m0. m1c f0j f1j f2r m2. m1c f0. f1? f2r m2. m3r k2."},
	{name: "a thunk is called and returns", flow: "@100 k0c m0j m3r k1c m0. m1c p0r1 m2. m3r k2."},
	{name: "more calls one in another than a condenser follows", flow: "@100 k0c " + nested("m", 70) + "k1."},
	{name: "calls one in another as the tree forgets outer ones", flow: "@100 k0c " + strings.Repeat("m0c ", 1000) + nested("g", 30) + "m1c f0r m2."},
	{name: "a call returns in a later batch", flow: "@100 k0c m0. m1c f0. | f1. f2r m2. m3r k1."},
	{name: "the second record of threads counts as long", flow: "@500 m0. @2000 m1. @102000 m1. @103000 m1c f0. @202000 f1. @203000 f2r m2. s0.", threads: []uint64{0, 1000, 101_500}},
	{name: "a call at the end of the function before returns to the first instruction", flow: "@100 k0c m0. m1c f0. f1j m2. m3c g0r f0. f3r m2. m3r k1."},
	{name: "a thunk calls a function", flow: "@100 k0c m0. m1c f0. f1c t0c g0r t1r f2r m2. m3r k1."},
	{name: "doubt before a call in a call", flow: "@100 k0c m0. m1c g0~ g1c h0r g2. g3r m2. m2c f0. f1c g0~ g1c h0r g2. g3r f2. f3r m3r k1."},
	{name: "a jump to what is in doubt", flow: "@100 k0c m0. m1c f0. f1j g0~ g1r m2. m2c f0. f1j g0? g1r m3. m3r k1."},
	{name: "time goes back", flow: "@200 m0c f0. @150 f1r m1c @220 g0r m2."},
}

// nested is n calls of a function, one in another, and their returns.
func nested(f string, n int) string {
	return strings.Repeat(f+"0c ", n-1) + f + "0j " + f + "3r " + strings.Repeat(f+"1j "+f+"3r ", n-1)
}

// Moments at which threads change, ns.
var (
	switching = []uint64{0, 130, 140, 200, 1100}
	rarely    = []uint64{50, 250, 100_050, 150_000, 220_000}
)

// TestDetours would catch a call that is told otherwise where the condenser takes it, or one around it,
// out of the flow. The slow twin has all of the flow. Batches end behind different words, and the tree is
// given what is left as one or in parts. The condenser knows the blocks from before, or not.
func TestDetours(t *testing.T) {
	for i := range handCases {
		x := &handCases[i]
		t.Run(x.name, func(t *testing.T) {
			if x.threads == nil {
				x.threads = []uint64{0}
			}
			s := x.session(t)
			for _, cuts := range []uint64{0, ^uint64(0), 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6} {
				for i := range 4 {
					part, knows := []int{1000, 1}[i%2], i > 1
					d, detours := x.compareHand(s, cuts, part, knows)
					if d != "" {
						t.Errorf("%s, batches end as %b says, parts of %d, blocks known %v: %s", x.flow, cuts, part, knows, d)
					}
					if detours < x.detours {
						t.Errorf("%s: %d detours, want %d", x.flow, detours, x.detours)
					}
				}
			}
		})
	}
}
