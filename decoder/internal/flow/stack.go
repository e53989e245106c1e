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
	vague int  // how many of the lowest entries are a guess: an address from them is one, too
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
	} else if s.vague > 0 {
		s.vague-- // the lowest was dropped
	}
}

// Pop takes the newest entry; ok is false when the stack is empty.
func (s *ReturnStack) Pop() (addr uint64, call *Block, ok bool) {
	if s.n == 0 {
		return 0, nil, false
	}
	s.n--
	s.vague = min(s.vague, s.n)
	s.top = (s.top - 1 + isa.MaxStack) % isa.MaxStack
	return s.addr[s.top], s.call[s.top], true
}

// Clear empties the stack.
func (s *ReturnStack) Clear() { s.n, s.top, s.part, s.vague = 0, 0, false, 0 }

// Forget empties the stack where the trace unit does not empty its own.
func (s *ReturnStack) Forget() {
	s.Clear()
	s.part = true
}

// Doubt makes a guess of all that the stack holds. What is pushed from now on is
// none.
func (s *ReturnStack) Doubt() { s.vague, s.part = s.n, true }

// doubtAs makes a guess of what o, which may be the true stack instead, does not say
// as well.
func (s *ReturnStack) doubtAs(o *ReturnStack) {
	if s.Equal(o) {
		s.vague = max(s.vague, o.vague)
	} else {
		s.Doubt()
	}
}

// guessed reports whether the newest entry is a guess.
func (s *ReturnStack) guessed() bool { return s.n <= s.vague && s.n > 0 }

// Equal reports whether both stacks would give the same addresses, as far as a flow
// depends on them.
func (s *ReturnStack) Equal(o *ReturnStack) bool {
	if s.depth == 0 || s.told {
		return true // neither gives any, or none is needed
	}
	if s.n != o.n || s.part != o.part {
		return false
	}
	for i := 1; i <= s.n; i++ {
		if s.addr[(s.top-i+isa.MaxStack)%isa.MaxStack] != o.addr[(o.top-i+isa.MaxStack)%isa.MaxStack] {
			return false
		}
	}
	return true
}

// leadsTo reports whether s has the return addresses that p uses. The newest is p's.
func (s *ReturnStack) leadsTo(p *path) bool {
	if _, ok := s.sure(int(p.backs)-1, int(p.deep)); !ok && p.backs > 0 {
		return false
	}
	for i := 1; i < int(p.backs); i++ {
		if a, _ := s.sure(i, int(p.deep)); a != p.under[i-1] {
			return false
		}
	}
	return true
}

// sure returns the address below the i newest entries. It is not ok if that is a guess, or
// deep calls more push it out.
func (s *ReturnStack) sure(i, deep int) (addr uint64, ok bool) {
	if s.n-max(s.vague, s.n+deep-s.depth) <= i {
		return 0, false
	}
	return s.addr[(s.top-1-i+isa.MaxStack)%isa.MaxStack], true
}

// reenact does to the stack what the calls and returns of rs do. Of calls before rs it returns
// from pops, and no more than deep calls were open at once, less those. In the end call are open.
func (s *ReturnStack) reenact(rs []Range, call []*Block, pops, deep int) {
	if s.n < pops || s.n+deep > s.depth {
		for _, r := range rs {
			switch b := r.Block; {
			case b.lead&calls != 0:
				s.Push(b.End, b)
			case b.lead&returns != 0:
				s.Pop()
			}
		}
		return
	}
	s.n -= pops
	s.vague = min(s.vague, s.n)
	s.top = (s.top - pops + isa.MaxStack) % isa.MaxStack
	for _, b := range call {
		s.Push(b.End, b)
	}
}
