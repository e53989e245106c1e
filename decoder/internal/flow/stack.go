package flow

import "github.com/ptdecode/ptdecode/decoder/isa"

// ReturnStack is the decoder's copy of the trace unit's stack of return
// addresses. When it is full the oldest entry is dropped. It holds nothing until
// depth is set.
type ReturnStack struct {
	depth int  // how many it holds at most, up to isa.MaxStack
	told  bool // the trace states where each return goes: no flow depends on what it holds
	n     int  // entries held
	part  bool // the trace unit may hold more below them
	vague bool // some were pushed or popped in a flow that was a guess: an address from it is one, too
	top   int  // index of the next push
	addr  [isa.MaxStack]uint64
	call  [isa.MaxStack]*Block // the block that ended with the call, nil if not kept
}

// Push adds a return address. call is the block that ended with the call, or nil.
func (s *ReturnStack) Push(addr uint64, call *Block) {
	s.addr[s.top] = addr
	s.call[s.top] = call
	s.top = (s.top + 1) % isa.MaxStack
	if s.n < s.depth {
		s.n++
	}
}

// Pop takes the newest entry; ok is false when the stack is empty.
func (s *ReturnStack) Pop() (addr uint64, call *Block, ok bool) {
	if s.n == 0 {
		return 0, nil, false
	}
	s.n--
	s.top = (s.top - 1 + isa.MaxStack) % isa.MaxStack
	return s.addr[s.top], s.call[s.top], true
}

// Clear empties the stack.
func (s *ReturnStack) Clear() { s.n, s.top, s.part, s.vague = 0, 0, false, false }

// Forget empties the stack where the trace unit does not empty its own.
func (s *ReturnStack) Forget() {
	s.Clear()
	s.part = true
}

// Equal reports whether both stacks would give the same addresses, as far as a flow
// depends on them.
func (s *ReturnStack) Equal(o *ReturnStack) bool {
	if s.depth == 0 || s.told {
		return true // neither gives any, or none is needed
	}
	if s.n != o.n || s.part != o.part || s.vague != o.vague {
		return false
	}
	for i := 1; i <= s.n; i++ {
		if s.addr[(s.top-i+isa.MaxStack)%isa.MaxStack] != o.addr[(o.top-i+isa.MaxStack)%isa.MaxStack] {
			return false
		}
	}
	return true
}
