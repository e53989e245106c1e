// Package protofields reads messages of Protocol Buffers field by field, for tests of what
// writes them. It knows no schema: Protocol Buffers, "Encoding".
package protofields

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// Each calls f with the fields of message b in their order. v is the value of a varint or of
// eight bytes, in is a string, bytes or a message. What is no message fails the test.
func Each(t testing.TB, b []byte, f func(n protowire.Number, v uint64, in []byte)) {
	t.Helper()
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		var v uint64
		var in []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			in, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		f(num, v, in)
		b = b[n:]
	}
}
