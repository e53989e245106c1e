package rows

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// nobody is a Recording that knows nothing.
type nobody struct{}

func (nobody) Symbol(uint32, uint64, uint64) (string, uint64, string, bool) { return "", 0, "", false }
func (nobody) Running(int, uint64) (int32, string, uint64, bool)            { return 0, "", 0, false }
func (nobody) Lines(uint32, uint64, uint64) []symbols.Frame                 { return nil }
func (nobody) UserEpochs(uint32, uint64) event.Span                         { return event.EveryEpoch }
func (nobody) NextRunning(int, uint64, int32) (uint64, int32, bool)         { return 0, -1, false }
func (nobody) Kernel(addr uint64) bool                                      { return addr>>63 != 0 }
func (nobody) Code([]byte, uint32, uint64, event.Epoch) int                 { return 0 }
func (nobody) ISA() (isa.Decoder, isa.Mode)                                 { return x86.Decoder{}, isa.Mode64 }
func (nobody) Format(text []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string {
	return x86.Decoder{}.Format(text, addr, m, sym)
}
func (nobody) Text() *kcore.Text       { return nil }
func (nobody) Symbols() *symbols.Table { return nil }

// word renders a row's transfer and number, of a trap where it goes on.
func word(r *Row) string {
	switch {
	case r.Kind == KindTrap && r.HasAddr:
		return fmt.Sprintf("TRAP%d>%d", r.IP, r.Addr)
	case r.Kind == KindTrap:
		return fmt.Sprintf("TRAP%d>?", r.IP)
	case r.Kind == KindGap:
		return "gap"
	}
	return strings.ReplaceAll(r.Transfer.String(), " ", "") + strconv.FormatUint(r.IP, 10)
}

// folded gives a stream's listing rows, one for each letter, numbered from 1. The
// letters are t trap, h interrupt, i return (to the address 1000 more), s return to
// the next instruction, y syscall, o tracing off, g gap, b another branch. folded
// returns what is listed, and how many rows waited at most.
func folded(letters string, backward bool) (out string, most int) {
	var words []string
	streams := []Stream{{}}
	m := New(nobody{}, streams, nil, Options{Level: LevelBranch, Gaps: true, Reverse: backward}, func(r *Row) error {
		words = append(words, word(r))
		return nil
	})
	var f *folder
	switch l := m.streams[0].(type) {
	case *branches:
		f = &l.folder
	case *branchesBack:
		f = &l.folder
	}
	transfers := map[byte]Transfer{
		't': TransferTrap, 'h': TransferInterrupt, 'i': TransferIret, 's': TransferIret,
		'y': TransferSyscall, 'o': TransferTraceEnd, 'b': TransferJump,
	}
	at := make([]int, len(letters))
	for i := range at {
		at[i] = i
	}
	if backward {
		slices.Reverse(at)
	}
	for _, i := range at {
		ip := uint64(i + 1)
		switch c := letters[i]; c {
		case 'g':
			f.moved(&flow.Note{Kind: flow.NoteGap, Poke: -1})
		default:
			r := Row{Kind: KindBranch, Stream: &streams[0], Transfer: transfers[c], IP: ip, Addr: ip + 1000, HasAddr: true, Poke: -1, Len: 2}
			if c == 's' {
				r.Addr = ip + 2
			}
			f.fold(&r)
		}
		most = max(most, m.queue.waiting())
	}
	m.Close()
	if backward {
		slices.Reverse(words)
	}
	return strings.Join(words, " "), most
}

// TestTrapsFold would catch a handler's flow that is shown, and other flow that is
// hidden. It would also catch the end of an interrupt taken for the handler's, and
// an end that was not seen.
func TestTrapsFold(t *testing.T) {
	for _, x := range []struct{ in, want string }{
		{"btbbib", "jmp1 TRAP2>1005 jmp6"},
		{"thbibib", "TRAP1>1006 jmp7"},                      // an NMI in the handler
		{"tbthibibib", "TRAP1>1009 jmp10"},                  // another trap, and an NMI in its handler
		{"hbtbibi", "hwint1 jmp2 TRAP3>1005 jmp6 iret7"},    // in an interrupt's handler
		{"hbib", "hwint1 jmp2 iret3 jmp4"},                  // no trap at all
		{"tbsbib", "TRAP1>1005 jmp6"},                       // a return that only synchronises
		{"tbgbib", "TRAP1>? jmp2 gap jmp4 iret5 jmp6"},      // lost in the handler
		{"ttbibgi", "TRAP1>? TRAP2>1004 jmp5 gap iret7"},    // lost in the outer handler
		{"tbobib", "TRAP1>? jmp2 trend3 jmp4 iret5 jmp6"},   // tracing went off
		{"tbybib", "TRAP1>? jmp2 syscall3 jmp4 iret5 jmp6"}, // in user space: this was no handler
		{"thb", "TRAP1>? hwint2 jmp3"},                      // the recording ends
		{"ibtibt", "iret1 jmp2 TRAP3>1004 jmp5 TRAP6>?"},    // it begins in a handler
	} {
		for _, backward := range []bool{false, true} {
			if got, _ := folded(x.in, backward); got != x.want {
				t.Errorf("%s, backward %v:\n got %s\nwant %s", x.in, backward, got, x.want)
			}
		}
	}
}

// TestTrapsFoldBounded would catch rows without end that wait for the end of a
// handler, and a trap inside of such a handler that is given up with it.
func TestTrapsFoldBounded(t *testing.T) {
	long := maxHandler - 4
	in := "t" + strings.Repeat("b", long) + "tbbbbib"
	for _, backward := range []bool{false, true} {
		if _, most := folded("t"+strings.Repeat("b", 3*maxHandler)+"i", backward); most > maxHandler+1 {
			t.Errorf("backward %v: %d rows wait, at most %d should", backward, most, maxHandler)
		}
	}
	for _, backward := range []bool{false, true} {
		got, _ := folded(in, backward)
		want := fmt.Sprintf(" jmp%d TRAP%d>%d jmp%d", long+1, long+2, long+7+1000, long+8)
		if !strings.HasPrefix(got, "TRAP1>? jmp2 ") || !strings.HasSuffix(got, want) {
			t.Errorf("backward %v: %.20s ... %s, want TRAP1>? ...%s", backward, got, got[len(got)-60:], want)
		}
	}
}

// TestTrapsFoldMirrored would catch traps that are told otherwise backwards, and
// rows that are lost: over random flows, some longer than is waited for.
func TestTrapsFoldMirrored(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range testsize.Of(t, 600, 3000) {
		var b strings.Builder
		kinds := "thiibbbsgyo"[:5+r.IntN(7)]
		for range 1 + r.IntN(30) {
			b.WriteByte(kinds[r.IntN(len(kinds))])
			if n%100 == 0 && r.IntN(8) == 0 {
				b.WriteString(strings.Repeat("b", maxHandler-2+r.IntN(4)))
			}
		}
		forward, _ := folded(b.String(), false)
		back, _ := folded(b.String(), true)
		if forward != back {
			t.Fatalf("%.100s:\n forward %.300s\nbackward %.300s", b.String(), forward, back)
		}
		if !strings.Contains(b.String(), "t") && strings.Count(forward, " ")+1 != b.Len() {
			t.Fatalf("%.100s: %.300s", b.String(), forward)
		}
	}
}
