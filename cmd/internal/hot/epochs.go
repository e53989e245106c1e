package hot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// mostSpans is how many spans of epochs a line names.
const mostSpans = 4

// held returns the epochs of a version of an instruction of the kernel: of the n bytes at addr. It is within where they
// are not known. What changed elsewhere in a block does not end it.
func (l *list) held(space uint32, addr uint64, n int, within event.Span) event.Span {
	var buf [16]byte
	if space == 0 || l.s.Kernel(addr) {
		if have, s := l.s.Text().Fetch(buf[:n], addr, min(within.From, event.Epoch(l.s.Text().Len()))); have == n {
			return s
		}
	}
	return within
}

// merged returns spans in order, where those that touch or overlap are one.
func merged(list []event.Span) []event.Span {
	slices.SortFunc(list, func(a, b event.Span) int { return cmp.Compare(a.From, b.From) })
	n := 0
	for _, s := range list {
		if n > 0 && s.From <= list[n-1].Until {
			list[n-1].Until = max(list[n-1].Until, s.Until)
			continue
		}
		list[n] = s
		n++
	}
	return list[:n]
}

// epochs renders the moments for which code holds as objects have them: nil is always.
func epochs(list []event.Span) (all [][2]*int64) {
	if len(list) == 1 && list[0] == event.EveryEpoch {
		return nil
	}
	for _, s := range list {
		from, until := int64(s.From), int64(s.Until)
		x := [2]*int64{&from, &until}
		if s.Until == event.MaxEpoch {
			x[1] = nil
		}
		all = append(all, x)
	}
	return all
}

// versions says which version of the code an entry is of, where that was changed. Behind each
// comma a line may end.
func versions(e *entry) string {
	var parts []string
	several := len(e.Epochs) > 1
	for i, s := range e.Epochs {
		switch from, until := *s[0], s[1]; {
		case i == mostSpans:
			parts[i-1] += fmt.Sprintf(" and %d more", len(e.Epochs)-i)
			return "code of epochs " + strings.Join(parts, ", ")
		case until == nil && !several:
			return fmt.Sprintf("code from epoch %d", from)
		case until == nil:
			parts = append(parts, fmt.Sprintf("from %d", from))
		case from+1 == *until:
			parts = append(parts, fmt.Sprint(from))
		default:
			several = true
			parts = append(parts, fmt.Sprintf("%d-%d", from, *until-1))
		}
	}
	switch {
	case len(parts) == 0:
		return ""
	case several:
		return "code of epochs " + strings.Join(parts, ", ")
	}
	return "code of epoch " + parts[0]
}
