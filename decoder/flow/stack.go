package flow

// stackDepth is the depth of the return stack that a trace unit keeps.
// Intel SDM volume 3C, "Indirect Transfer Compression for Returns (RET)": 64.
const stackDepth = 64

// ReturnStack is the decoder's copy of the trace unit's stack of return
// addresses. When it is full the oldest entry is dropped.
type ReturnStack struct {
	n    int  // entries held
	part bool // the trace unit may hold more below them
	top  int  // index of the next push
	addr [stackDepth]uint64
	call [stackDepth]*Block // the block that ended with the call, nil if not kept
}

// Push adds a return address. call is the block that ended with the call, or nil.
func (s *ReturnStack) Push(addr uint64, call *Block) {
	s.addr[s.top] = addr
	s.call[s.top] = call
	s.top = (s.top + 1) % stackDepth
	if s.n < stackDepth {
		s.n++
	}
}

// Pop takes the newest entry; ok is false when the stack is empty.
func (s *ReturnStack) Pop() (addr uint64, call *Block, ok bool) {
	if s.n == 0 {
		return 0, nil, false
	}
	s.n--
	s.top = (s.top - 1 + stackDepth) % stackDepth
	return s.addr[s.top], s.call[s.top], true
}

// Clear empties the stack.
func (s *ReturnStack) Clear() { s.n, s.top, s.part = 0, 0, false }

// Forget empties the stack where the trace unit does not empty its own.
func (s *ReturnStack) Forget() {
	s.Clear()
	s.part = true
}

// Equal reports whether both stacks would give the same addresses.
func (s *ReturnStack) Equal(o *ReturnStack) bool {
	if s.n != o.n || s.part != o.part {
		return false
	}
	for i := 1; i <= s.n; i++ {
		if s.addr[(s.top-i+stackDepth)%stackDepth] != o.addr[(o.top-i+stackDepth)%stackDepth] {
			return false
		}
	}
	return true
}
