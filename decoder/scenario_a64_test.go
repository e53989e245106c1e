package decoder

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// writtenEvents is a source of events that were written down.
type writtenEvents []event.Event

func (s *writtenEvents) Next(e *event.Event) bool {
	if len(*s) == 0 {
		return false
	}
	*e, *s = (*s)[0], (*s)[1:]
	return true
}

// etmRules is what an ETMv4 with a return stack does: every branch and ISB
// spends an outcome (Arm ARM DDI 0487, D4.4 "Instruction and exception
// classification"), and a return that went to the top of the stack states no
// address (K10.5 "Return stack").
func etmRules() isa.Rules {
	return isa.Rules{
		Waypoints: isa.Set(isa.Cond, isa.Jump, isa.Call, isa.JumpInd, isa.CallInd, isa.Return, isa.FarReturn, isa.Barrier),
		Raises:    isa.Set(isa.Syscall),
		Returns:   isa.ReturnsByOutcome,
		Stack:     3,
	}
}

// readScript reads a source section: WORD LO-HI and what the word wants.
func readScript(text string) (out writtenEvents, err error) {
	for line := range strings.Lines(text) {
		f := strings.Fields(plain(line))
		if len(f) == 0 {
			continue
		}
		if len(f) < 2 {
			return nil, fmt.Errorf("%q: need a word, LO-HI, and what it states", line)
		}
		e := event.Event{Off: int64(len(out)), End: int64(len(out)) + 1}
		lo, hi, ok := strings.Cut(f[1], "-")
		if e.Time.Lo, err = strconv.ParseUint(lo, 10, 64); err == nil && ok {
			e.Time.Hi, err = strconv.ParseUint(hi, 10, 64)
		}
		if err != nil || !ok {
			return nil, fmt.Errorf("%q: time %q, need LO-HI in ns", line, f[1])
		}
		if err := stateEvent(&e, f[0], f[2:]); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// stateEvent fills in e from a word and its operands.
func stateEvent(e *event.Event, word string, args []string) error {
	var addr [2]uint64
	want := map[string]int{"sync": 1, "address": 1, "exception": 2, "break": 2, "atoms": 1, "end": 0}
	if n, ok := want[word]; !ok || n != len(args) {
		return fmt.Errorf("no event is %s with %d operands", word, len(args))
	}
	if word != "atoms" {
		for i, a := range args {
			v, err := strconv.ParseUint(a, 16, 64)
			if err != nil {
				return fmt.Errorf("address %q: need hexadecimal digits", a)
			}
			addr[i] = v
		}
	}
	e.Flags = event.FlagIP
	switch word {
	case "sync":
		e.Kind, e.IP, e.Mode = event.Sync, addr[0], uint8(isa.ModeA64)
		e.Flags |= event.FlagMode
	case "address":
		e.Kind, e.IP = event.Target, addr[0]
	case "exception", "break":
		e.Kind, e.From, e.IP = event.Async, addr[0], addr[1]
		e.Flags |= event.FlagIntr
		if word == "break" {
			e.Flags = event.FlagIP | event.FlagBreak
		}
	case "atoms":
		e.Kind, e.Flags, e.N = event.Outcomes, 0, uint8(len(args[0]))
		for i, c := range args[0] {
			switch {
			case i >= 64 || c != 'E' && c != 'N':
				return fmt.Errorf("atoms %q: need up to 64 of E and N", args[0])
			case c == 'E':
				e.Value |= 1 << (63 - i)
			}
		}
	case "end":
		e.Kind, e.Flags = event.End, 0
	}
	return nil
}
