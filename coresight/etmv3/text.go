package etmv3

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/coresight/internal/wire"
)

// String returns p in one line as dumps print it: the kind's name as the
// manual writes it, the fields of the text form, and what they mean.
func (p Packet) String() string {
	if p.Kind >= NumKinds {
		return "?"
	}
	s := &specs[p.Kind]
	if p.Kind == Bad {
		return fmt.Sprintf("%s %d bytes: %s", s.name, p.Value, p.badness())
	}
	dst := wire.Append([]byte(s.name), s.fields, &p)
	if m := p.meaning(); m != "" {
		dst = append(append(append(dst, " ("...), m...), ')')
	}
	return string(dst)
}

// badness says why a Bad packet is none.
func (p *Packet) badness() string {
	of := Kind(p.Exc)
	switch {
	case p.Info == BadCut && of == ASync:
		return "zeros, cut short"
	case p.Info == BadCut:
		return fmt.Sprintf("%v: packet cut short: have %d bytes, need %d", of, p.Value, p.N)
	case p.Info == BadForm:
		return fmt.Sprintf("%v: reserved form", of)
	}
	return "no packet starts so"
}

// meaning is what the numbers of p say, for people.
func (p *Packet) meaning() string {
	var w []string
	add := func(yes bool, word string) {
		if yes {
			w = append(w, word)
		}
	}
	switch p.Kind {
	case ISync, ISyncCycles:
		w = append(w, [4]string{"periodic", "on", "overflow", "debug exit"}[p.Reason()])
		add(p.Info&infoNS != 0, "ns")
		add(p.Info&infoAlt != 0, "alt")
		add(p.Info&infoHyp != 0, "hyp")
		add(p.Info&infoJazelle != 0, "jazelle")
	case Branch:
		if p.N == 5 {
			set, _ := addressSet(p.Value)
			a, n := set.bits(p.Value, 5, false)
			w = append(w, fmt.Sprintf("%s 0x%x", set, a&(1<<n-1)))
		}
		if !p.HasException() {
			break
		}
		w = append(w, "exception "+strconv.Itoa(int(p.Exception(true))))
		add(p.Cancels(), "cancel")
		if p.Exc > 0 {
			add(p.Extra&excNS != 0, "ns")
			add(p.Extra&excAlt != 0, "alt")
			add(p.Exc > 1 && p.Extra&(excHyp|excResume) == excHyp, "hyp")
		}
	}
	return strings.Join(w, ", ")
}

// AppendText appends p in the text form of docs/formats/etmv3-packets.md, one
// line without its end. raw is the bytes of p: the text of a Bad packet shows
// them; for other kinds it may be nil.
func AppendText(dst []byte, p Packet, raw []byte) []byte {
	if p.Kind >= NumKinds {
		return dst
	}
	s := &specs[p.Kind]
	dst = append(dst, s.text...)
	if p.Kind == Bad {
		return fmt.Appendf(append(dst, ' '), "%x", raw)
	}
	return wire.Append(dst, s.fields, &p)
}

// format is the Format of a trace that p can be in.
func (p *Packet) format() (f Format) {
	f.CycleAccurate = p.Kind == PHeader && p.Info > 2
	f.TS64 = p.Kind == Timestamp && p.N > 7
	switch p.Kind {
	case ISync, ISyncCycles, ContextID:
		f.ContextBytes = p.N
		f.DataOnly = p.Info&infoNoAddress != 0
	case Branch:
		f.Alternative = p.N > 1 && p.N < 5 && p.Exc > 0
	case Data, OutOfOrder, Placeholder, StoreFailed, DataSuppressed, NotTraced:
		f.DataValues, f.DataAddresses = true, p.Exc > 0
	}
	return f
}

// ParseText reads one line of the text form and returns the packet as Next
// would give it at offset 0. raw is its bytes. Blanks between words do not
// matter.
func ParseText(line string) (p Packet, raw []byte, err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Packet{}, nil, fmt.Errorf("packet text: no packet in an empty line")
	}
	k := Kind(0)
	for k < NumKinds && specs[k].text != words[0] {
		k++
	}
	switch k {
	case NumKinds:
		return Packet{}, nil, fmt.Errorf("packet text: %q: no packet has that name", words[0])
	case Bad:
		raw, err = wire.ParseBytes(words[1:])
		if err != nil {
			return Packet{}, nil, fmt.Errorf("packet text: bad: %w", err)
		}
		l := NewLexer(Format{}, raw, 0)
		if l.Next(&p); p.Kind != Bad || p.Value != uint64(len(raw)) {
			p = Packet{Kind: Bad, Value: uint64(len(raw))}
		}
		return p, raw, nil
	}
	p.Kind = k
	rest, err := wire.Parse(specs[k].fields, words[1:], &p)
	if err != nil {
		return Packet{}, nil, fmt.Errorf("packet text: %s: %w", words[0], err)
	}
	if len(rest) > 0 {
		return Packet{}, nil, fmt.Errorf("packet text: %s: %q is too much", words[0], rest[0])
	}
	if f := p.format(); f.ContextBytes == 3 {
		return Packet{}, nil, fmt.Errorf("packet text: %s: context ID of 3 bytes, need 1, 2 or 4", words[0])
	}
	raw = AppendPacket(nil, p)
	p.Len = uint8(len(raw))
	var q Packet
	if NewLexer(p.format(), raw, 0).Next(&q); q != p {
		return Packet{}, nil, fmt.Errorf("packet text: %q: no packet holds that: its bytes would be %x", line, raw)
	}
	return p, raw, nil
}

// Assemble appends the bytes of text, in the text form, one packet a line.
// What follows a # and empty lines are passed over.
func Assemble(dst []byte, text string) ([]byte, error) {
	return wire.Assemble(dst, text, func(line string) ([]byte, error) {
		_, raw, err := ParseText(line)
		return raw, err
	})
}
