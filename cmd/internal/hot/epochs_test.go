package hot

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestVersions would catch epochs between two spans that are told as those of the code, spans that touch and are
// told apart, and lines that name thousands of spans.
func TestVersions(t *testing.T) {
	const end = event.MaxEpoch
	for _, c := range []struct {
		spans []event.Span
		want  string
	}{
		{[]event.Span{event.EveryEpoch}, ""},
		{[]event.Span{{From: 3, Until: 4}}, "code of epoch 3"},
		{[]event.Span{{From: 3, Until: end}}, "code from epoch 3"},
		{[]event.Span{{From: 121, Until: 297}, {From: 58, Until: 71}}, "code of epochs 58-70, 121-296"},
		{[]event.Span{{From: 0, Until: 2}, {From: 2, Until: 5}, {From: 4, Until: 5}, {From: 0, Until: 1}}, "code of epochs 0-4"},
		{[]event.Span{{From: 2, Until: end}, {From: 0, Until: 2}}, ""},
		{[]event.Span{{From: 0, Until: 1}, {From: 2, Until: end}}, "code of epochs 0, from 2"},
		{[]event.Span{{From: 0, Until: 1}, {From: 2, Until: 3}, {From: 4, Until: 5}, {From: 6, Until: 8}}, "code of epochs 0, 2, 4, 6-7"},
		{[]event.Span{{From: 0, Until: 1}, {From: 2, Until: 3}, {From: 4, Until: 5}, {From: 6, Until: 8}, {From: 9, Until: 10}, {From: 11, Until: end}}, "code of epochs 0, 2, 4, 6-7 and 2 more"},
	} {
		if got := versions(&entry{Epochs: epochs(merged(slices.Clone(c.spans)))}); got != c.want {
			t.Errorf("%v: %q, want %q", c.spans, got, c.want)
		}
	}
}

// TestFolded would catch lines that are wider than the screen, and those that lose a part of an instruction or double
// it. Without a screen, it would catch lines that are cut, or broken anew.
func TestFolded(t *testing.T) {
	const at, col = "          98         0  0xffffffff91052549 +0x179  ", 51
	insns := []string{
		"orl $-0x80000000,%gs:0x6efcd5ec(%rip)  # 0x1fb40", "mov 0x968(%rbx,%rax,8),%rax", "lock cmpxchg %edx,%gs:0x6efccf50(%rip)",
		"call 0xffffffff906d7d90 <__traceiter_sched_switch+0x1c>", "call 0xffffffff906d7d90 <f>", "ldp x29, x30, [sp, #16]!", "ret",
	}
	for _, width := range []int{0, 60, 70, 80, 120} {
		for _, insn := range insns {
			var b strings.Builder
			l := &list{o: &options{width: width}}
			if l.fold(&b, at, col, insn, "code of epochs 58-70, 121-296"); width > 0 {
				for line := range strings.Lines(b.String()) {
					if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
						t.Errorf("width %d: %q is %d wide", width, line, n)
					}
				}
			}
			whole := strings.Join(strings.Fields(at+insn+"code of epochs 58-70, 121-296"), "")
			if got := strings.Join(strings.Fields(b.String()), ""); got != whole && !strings.Contains(got, "…") {
				t.Errorf("width %d: %q, want the parts of %q", width, got, whole)
			} else if width == 0 && (got != whole || !strings.Contains(b.String(), strings.Split(insn, " <")[0])) {
				t.Errorf("no screen: %q", b.String())
			}
		}
	}
}

// TestFoldedNames would catch a name of C++ that loses a bracket of its own, on a screen on which it fits behind the indent.
func TestFoldedNames(t *testing.T) {
	const at, col = "          98         0  0xffffffff91052549 +0x179  ", 51
	for _, name := range []string{"<void f<std::vector<int>>>", "<operator>>", "<f+0x10>", "<main.(*T·1).f>"} {
		var b strings.Builder
		l := &list{o: &options{width: 110}}
		if l.fold(&b, at, col, "lea 0x12345678(%rax,%rbx,8),%r12  # 0xffffffff91052549 "+name, "code of epochs 58-70, 121-296"); !strings.Contains(b.String(), name) {
			t.Errorf("%q, want %s", b.String(), name)
		}
	}
}
