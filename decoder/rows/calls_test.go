package rows

import (
	"testing"

	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// TestCallStack would catch a tree that drifts: returns that leave several
// calls, returns that no call awaits, and more calls than are remembered.
func TestCallStack(t *testing.T) {
	s := &callStack{}
	for i := range 5 {
		if d := s.enter(frame{ret: uint64(100 + i)}); d != i {
			t.Fatalf("call %d has depth %d", i, d)
		}
	}
	if s.leave(102) != true || s.depth() != 2 {
		t.Errorf("a return over two calls: depth %d, want 2", s.depth())
	}
	if s.leave(999) != false || s.depth() != 2 {
		t.Errorf("a return that no call awaits: depth %d, want 2", s.depth())
	}
	for range 4 {
		s.pop()
	}
	if s.depth() != 0 {
		t.Errorf("a return out of everything: depth %d, want 0", s.depth())
	}
	for i := range 3 * maxCalls {
		s.enter(frame{ret: uint64(i)})
	}
	if len(s.frames) > maxCalls {
		t.Errorf("%d calls are remembered, at most %d", len(s.frames), maxCalls)
	}
	if s.leave(3*maxCalls-1) != true || s.depth() != 3*maxCalls-1 {
		t.Errorf("after many calls: depth %d, want %d", s.depth(), 3*maxCalls-1)
	}
	s.clear()
	for _, f := range []frame{{ret: 1}, {}, {ret: 2}, {ret: 3}} {
		s.enter(f)
	}
	if s.resume(); s.depth() != 1 {
		t.Errorf("back from an interrupt: depth %d, want 1", s.depth())
	}
	if s.resume(); s.depth() != 1 {
		t.Errorf("back from an interrupt that was not seen: depth %d, want 1", s.depth())
	}
}

// TestTrampoline would catch a trampoline that counts as a level, and a depth that goes astray
// where calls are forgotten, unwound, or left behind with the trampoline's own.
func TestTrampoline(t *testing.T) {
	var s callStack
	for i := range 3 * maxCalls {
		if d := s.enter(frame{ret: uint64(i + 1), hidden: i%3 == 1}); i%3 != 1 && d != i-(i+1)/3 {
			t.Fatalf("call %d lies at depth %d", i, d)
		}
	}
	for i := 3*maxCalls - 1; i >= 3*maxCalls-60; i -= 2 {
		if !s.leave(uint64(i+1)) || s.depth() != i-(i+1)/3 {
			t.Fatalf("%d calls behind the return from call %d, want %d", s.depth(), i, i-(i+1)/3)
		}
	}
	if s.clear(); s.depth() != 0 {
		t.Errorf("%d calls in an empty stack", s.depth())
	}
}

// TestFromUser would catch code that no thread enters the kernel by, as thunks and trampolines, and that begins its calls anew where
// tracing comes on there. It would also catch an entry that does not.
func TestFromUser(t *testing.T) {
	k, err := symbols.ParseKallsyms("ffffffff81000000 T entry_SYSCALL_64\nffffffff81000040 T ftrace_caller\nffffffff81000080 T __x86_indirect_thunk_rax\nffffffff810000c0 t kprobe_insn_page\nffffffff81001000 T vectors\nffffffff81002000 T last\n", "kallsyms")
	if err != nil {
		t.Fatal(err)
	}
	n := NewNames(namesOnly{of: symbols.New(k, nil, nil)}, 1)
	for off, want := range map[uint64]bool{0: true, 8: false, 0x40: false, 0x80: false, 0xc0: false, 0x1000: true, 0x1200: false, 0x1400: true} {
		r := &Row{Stream: &Stream{}, HasAddr: true, Addr: 0xffffffff81000000 + off}
		if got := n.fromUser(r); got != want {
			t.Errorf("0x%x: %v, want %v", r.Addr, got, want)
		}
	}
}

// TestResumes would catch calls of a program that stay as its thread becomes another one. It would also catch some that end where
// nothing says so: in an address space that is not known, in the same one, or in the kernel.
func TestResumes(t *testing.T) {
	m := &Maker{names: *NewNames(namesOnly{}, 1)} // which has other code in each space
	for _, c := range []struct {
		space uint32
		addr  uint64
		calls int // left
	}{{1, 0x1000, 1}, {0, 0x1000, 1}, {1, 0x2000, 1}, {2, 1 << 40, 1}, {2, 0x1000, 0}} {
		s := &taskCalls{space: 1}
		s.user.enter(frame{ret: 0x3000})
		s.resumes(m, &Row{Stream: &Stream{}, HasAddr: true, Addr: c.addr, Space: c.space})
		if n := s.user.depth(); n != c.calls {
			t.Errorf("%+v: %d calls", c, n)
		}
	}
}
