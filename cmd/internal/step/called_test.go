package step

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/pt"
)

// thunkedCode is a caller that calls f through a retpoline, calls g through a trampoline of
// static calls, fills the return predictor, and jumps to g as it called it. f calls a tracer.
var thunkedCode = map[uint64]string{
	0x00: "\xe8\x1b\x00\x00\x00", // caller: call __x86_indirect_thunk_rax
	0x05: "\xe8\x36\x00\x00\x00", // call __SCT__g
	0x0a: "\xe8\x01\x00\x00\x00", // call 10, which skips an int3
	0x10: "\xe9\x2b\x00\x00\x00", // jmp __SCT__g
	0x20: "\xe8\x01\x00\x00\x00", // __x86_indirect_thunk_rax: call 26
	0x26: "\x48\x89\x04\x24\xc3", // mov %rax,(%rsp); ret
	0x40: "\xe9\x1b\x00\x00\x00", // __SCT__g: jmp g
	0x60: "\xc3",                 // g: ret
	0x70: "\xe8\x1b\x00\x00\x00", // f: call ftrace_caller
	0x75: "\xc3",                 // ret
	0x80: "\x48\xcf",             // handler: iretq
	0x90: "\xe8\x0b\x00\x00\x00", // ftrace_caller: call tracer
	0x95: "\xc3",                 // ret
	0xa0: "\xe8\x01\x00\x00\x00", // tracer: call leaf, which lies right behind it
	0xa5: "\xc3",                 // ret
	0xa6: "\xc3",                 // leaf: ret
}

const thunkedSymbols = `ffffffff81000000 T caller
ffffffff81000020 T __x86_indirect_thunk_rax
ffffffff81000040 T __SCT__g
ffffffff81000060 T g
ffffffff81000070 T f
ffffffff81000080 T handler
ffffffff81000090 T ftrace_caller
ffffffff810000a0 T tracer
ffffffff810000a6 T leaf
`

// thunkedTrace is the flow through thunkedCode, by the last byte of addresses. A
// segment begins in the thunk that is jumped to. The second call of f is interrupted in the retpoline.
const thunkedTrace = `psb
mode.exec l
fup 00
psbend
tip 70  # the retpoline leads to f
tip a5
tip 95
tip 75
tip 05
tip 0a  # g, called
psb
mode.exec l
fup 40
psbend
tip 00  # g, jumped to
fup 26
tip 80
tip 26
tip 70
tip a5
tip 95
tip 75
tip.pgd
`

// TestCalledThroughThunks would catch a key c that stops inside a thunk or a trampoline, or at
// a function that was jumped to. It would catch one that leaves out a function, too. In small
// windows the thunk lies before what was decoded first.
func TestCalledThroughThunks(t *testing.T) {
	want := []string{"f", "tracer", "leaf", "g", "f", "tracer", "leaf"}
	for _, most := range []int{1, 4096} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			c := thunked(t, most)
			if err := c.more(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := stops(t, c, false); !slices.Equal(got, want) {
				t.Errorf("forwards %v, want %v", got, want)
			}
			c = thunked(t, most)
			if ok, err := c.previous(); err != nil || !ok { // at the end
				t.Fatal("nothing ran", err)
			}
			back := stops(t, c, true)
			if slices.Reverse(back); !slices.Equal(back, want) {
				t.Errorf("backwards %v, want %v", back, want)
			}
		})
	}
}

// stops returns the functions where the cursor stops, by calls, to the end of the trace.
func stops(t *testing.T, c *cursor, back bool) (list []string) {
	t.Helper()
	for {
		ok, err := c.toCall(back)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return list
		}
		p, err := c.stop()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p.Sym)
	}
}

// thunked returns a cursor of thunkedTrace that has read nothing, and reads so many items at once.
func thunked(t *testing.T, most int) *cursor {
	t.Helper()
	const base = 0xffffffff81000000
	text := thunkedTrace
	for _, packet := range []string{"fup ", "tip "} {
		text = strings.ReplaceAll(text, "\n"+packet, "\n"+packet+"6: 0xffffffff810000")
	}
	trace, err := pt.Assemble(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	code := make([]byte, 0xb0)
	for at, b := range thunkedCode {
		copy(code[at:], b)
	}
	dir := t.TempDir()
	for name, b := range map[string][]byte{"trace": trace, "code": code, "syms": []byte(thunkedSymbols)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := decoder.Open(decoder.Config{
		Raw:      []decoder.RawTrace{{Protocol: decoder.IntelPT, Path: filepath.Join(dir, "trace")}},
		Code:     []decoder.CodeFile{{Path: filepath.Join(dir, "code"), Addr: base}},
		Kallsyms: filepath.Join(dir, "syms"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &cursor{window: &window{s: s, of: s, most: most}, ctx: t.Context()}
}
