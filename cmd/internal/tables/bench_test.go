package tables

import "testing"

// BenchmarkCalls measures rows of the table calls: of 1,000 functions, with times that stay the
// same for some rows.
func BenchmarkCalls(b *testing.B) {
	c, _ := Choose("calls")
	p, err := NewParquet(b.TempDir(), c)
	if err != nil {
		b.Fatal(err)
	}
	names := make([]string, 1000)
	for i := range names {
		names[i] = "function_" + string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	b.ResetTimer()
	var row []Value
	for i := range uint64(b.N) {
		f := i * i % 997
		t := i / 28 * 320
		row = append(row[:0], Value{N: t}, Value{N: t + 320}, Value{S: "cpu0"}, Value{}, Value{N: 105}, Value{S: "hitter", N: 105},
			Value{N: t + f%2*320}, Value{N: t + 320 + f%2*320}, Value{S: names[f], N: f}, Value{S: "[kernel.kallsyms]", N: f}, Value{N: f << 12}, Value{N: (f*7919 + i%4) << 8},
			Value{N: i % 7}, Value{S: "call", N: 1}, Value{S: "return", N: 2}, Value{N: i % 5 * 320}, Value{N: i % 3 * 320},
			Value{N: f}, Value{N: f / 3}, Value{S: "certain"})
		if err := p.Row(tableCalls, row); err != nil {
			b.Fatal(err)
		}
	}
	if err := p.Close(nil); err != nil {
		b.Fatal(err)
	}
}
