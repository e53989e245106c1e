package report

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// unlike says for people that nothing can be learned.
const unlike = "nothing is learned of the code: trace and code contradict each other so often that it is another one throughout, and little is certain"

// Learned decodes what q asks for and gives what was learned of the code, by address,
// with the symbol of its address and a line for people. Where the code is another one throughout, it gives
// nil and a line that says so.
func Learned(ctx context.Context, s *decoder.Session, q decoder.Query, give func(l *kcore.Learned, sym, line string) error) error {
	if err := s.Flow(ctx, q, dropped{}); err != nil {
		return err
	}
	return eachLearned(s, give)
}

// dropped is a sink that drops what it is given.
type dropped struct{}

// Flow drops b.
func (dropped) Flow(*decoder.Batch) error { return nil }

// eachLearned is Learned for what was learned so far.
func eachLearned(s *decoder.Session, give func(l *kcore.Learned, sym, line string) error) error {
	list, other := s.Learned()
	for i := range list {
		l := &list[i]
		sym := s.KernelSymbol(l.Addr, l.Change.Lo)
		name := sym
		if name == "" {
			name = "-"
		}
		if err := give(l, sym, fmt.Sprintf("%016x %s: %s", l.Addr, name, describeLearned(s, l))); err != nil {
			return err
		}
	}
	if other {
		return give(nil, "", unlike)
	}
	return nil
}

// describeChange renders when code changed.
func describeChange(t event.Time) string {
	lo, hi := event.Seconds(t.Lo), event.Seconds(t.Hi)
	switch {
	case t.Lo == 0 && t.Hi == math.MaxUint64:
		return "at a time that is not known"
	case t.Hi == math.MaxUint64:
		return "after " + lo
	case t.Lo == 0:
		return "before " + hi
	}
	return "between " + lo + " and " + hi
}

// describeLearned renders what was learned behind its place.
func describeLearned(s *decoder.Session, l *kcore.Learned) string {
	var b strings.Builder
	code := func(c []byte) string {
		asm, _ := Insn(s, c, l.Addr, l.Change.Lo)
		return fmt.Sprintf("%x (%s)", c, asm)
	}
	if l.Was != nil {
		fmt.Fprintf(&b, "learned (%s): %s became %s %s", l.Why, code(l.Was), code(l.Code), describeChange(l.Change))
	} else {
		fmt.Fprintf(&b, "learned (%s): %s", l.Why, code(l.Code))
		switch {
		case bytes.Equal(l.Had, l.Code):
			b.WriteString(" as the images have")
		case len(l.Had) > 0:
			fmt.Fprintf(&b, ", the images have %s", code(l.Had))
		}
	}
	for i, c := range l.Others {
		switch {
		case i == 0 && l.Either:
			b.WriteString("; or, as no visit contradicts it:")
		case i == 0:
			b.WriteString("; does the same:")
		}
		fmt.Fprintf(&b, " %x", c)
	}
	fmt.Fprintf(&b, "; visits for %d, against %d", l.For, l.Against)
	return b.String()
}
