package tables

import "encoding/binary"

// thrift writes structs in Thrift's compact protocol (thrift-compact-protocol.md, Apache
// Thrift 0.20).
type thrift struct {
	b    []byte
	last int   // field of the struct that is open
	open []int // last, of those around it
}

// Types of the compact protocol.
const (
	typeFalse  = 2
	typeI32    = 5
	typeI64    = 6
	typeBinary = 8
	typeList   = 9
	typeStruct = 12
)

// field begins a field. Its number is higher than that of the one before, by 15 at most.
func (t *thrift) field(n, kind int) {
	t.b = append(t.b, byte((n-t.last)<<4|kind))
	t.last = n
}

// value appends a number.
func (t *thrift) value(v int64) { t.b = binary.AppendVarint(t.b, v) }

// number is a field that holds a number.
func (t *thrift) number(n, kind int, v int64) {
	t.field(n, kind)
	t.value(v)
}

// bytes appends text.
func (t *thrift) bytes(s string) { t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...) }

// text is a field that holds text.
func (t *thrift) text(n int, s string) {
	t.field(n, typeBinary)
	t.bytes(s)
}

// list begins a field that is a list of size elements.
func (t *thrift) list(n, kind, size int) {
	t.field(n, typeList)
	if size < 15 {
		t.b = append(t.b, byte(size<<4|kind))
		return
	}
	t.b = binary.AppendUvarint(append(t.b, byte(0xf0|kind)), uint64(size))
}

// begin begins a field that is a struct; 0: an element of a list.
func (t *thrift) begin(n int) {
	if n != 0 {
		t.field(n, typeStruct)
	}
	t.open = append(t.open, t.last)
	t.last = 0
}

// stop ends the innermost struct.
func (t *thrift) stop() {
	t.b = append(t.b, 0)
	if n := len(t.open) - 1; n >= 0 {
		t.last, t.open = t.open[n], t.open[:n]
	}
}
