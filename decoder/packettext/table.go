package packettext

import "fmt"

// Row is a kind of packet.
type Row struct {
	Name   string // as the protocol's manual writes it
	Text   string // the word that its lines begin with
	Fields []Field
}

// Table holds the kinds of packets of a protocol. Row 0 is what is no packet: its
// text is its bytes.
type Table []Row

// NewTable returns the table of a protocol: the row of each of specs, by kind.
func NewTable[S any](specs []S, row func(s *S) Row) Table {
	t := make(Table, len(specs))
	for i := range specs {
		t[i] = row(&specs[i])
	}
	return t
}

// Append appends a packet of the kind in the text form, one line without its end.
// raw is the packet's bytes: of row 0 they are what the text shows.
func (t Table) Append(dst []byte, kind uint8, n *Numbers, raw []byte) []byte {
	if int(kind) >= len(t) {
		return dst
	}
	r := &t[kind]
	dst = append(dst, r.Text...)
	if kind == 0 {
		return fmt.Appendf(append(dst, ' '), "%x", raw)
	}
	return r.appendFields(dst, n)
}

// AppendDump appends a packet of the kind as dumps print it: the kind's name, and
// the fields of the text form.
func (t Table) AppendDump(dst []byte, kind uint8, n *Numbers) []byte {
	if int(kind) >= len(t) {
		return append(dst, '?')
	}
	r := &t[kind]
	return r.appendFields(append(dst, r.Name...), n)
}

func (r *Row) appendFields(dst []byte, n *Numbers) []byte {
	for i := range r.Fields {
		dst = r.Fields[i].appendTo(dst, n)
	}
	return dst
}

// Name returns the name of a kind, "?" where there is none.
func (t Table) Name(kind uint8) string {
	if int(kind) >= len(t) {
		return "?"
	}
	return t[kind].Name
}

// Usage is the text form of r as a table of text forms writes it.
func (r *Row) Usage() string {
	s := r.Text
	for i := range r.Fields {
		s += " " + r.Fields[i].Usage()
	}
	return s
}

// Why bytes are no packet.
const (
	BadOpcode = 1 + iota // no packet starts so
	BadForm              // the packet has a form that is reserved
	BadCut               // the bytes end inside of the packet
)

// Bad is bytes that are no packet.
type Bad struct {
	Why  uint8  // BadOpcode...
	Of   uint8  // the kind that began; 0: not known
	Size uint64 // how many were passed over, bytes or half bytes
	Need uint64 // BadCut: how many the packet needs
	Unit string // what both are counted in
}

// Dump returns b as dumps print it.
func (t Table) Dump(b Bad) string {
	s := fmt.Sprintf("%s %d %s: ", t[0].Name, b.Size, b.Unit)
	switch {
	case b.Why == BadCut && b.Of == 0:
		return s + "packet cut short"
	case b.Why == BadCut:
		return s + fmt.Sprintf("%s: packet cut short: have %d %s, need %d", t.Name(b.Of), b.Size, b.Unit, b.Need)
	case b.Why == BadForm:
		return s + t.Name(b.Of) + ": reserved form"
	}
	return s + "no packet starts so"
}
