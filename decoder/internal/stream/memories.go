package stream

import (
	"iter"

	"strings"

	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/coresight/ptm"
)

// Memories is a set of Arm's memory spaces: what one security state and
// exception level sees, EL0 as EL1.
type Memories uint8

// The memory spaces.
const (
	MemoryEL1S Memories = 1 << iota
	MemoryEL1N
	MemoryEL1R
	MemoryEL2S
	MemoryEL2N
	MemoryEL2R
	MemoryEL3
	MemoryRoot

	SecureMemory    = MemoryEL1S | MemoryEL2S | MemoryEL3
	NonSecureMemory = MemoryEL1N | MemoryEL2N
	RealmMemory     = MemoryEL1R | MemoryEL2R
	AnyMemory       = Memories(0xff)
)

// String lists the spaces by the names that dumps have for them.
func (m Memories) String() string {
	var names []string
	for i, n := range [8]string{"EL1S", "EL1N", "EL1R", "EL2S", "EL2N", "EL2R", "EL3", "ROOT"} {
		if m>>i&1 != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// contextMemory returns the space of a context of ETMv4 or ETE by its
// information byte. DDI0487, "Context packet".
func contextMemory(info uint32) Memories {
	el := info & etmv4.InfoEL
	switch realm, ns := info&etmv4.InfoNSE != 0, info&etmv4.InfoNS != 0; {
	case realm && !ns:
		return MemoryRoot
	case realm:
		return [4]Memories{MemoryEL1R, MemoryEL1R, MemoryEL2R, MemoryRoot}[el]
	case ns:
		return [4]Memories{MemoryEL1N, MemoryEL1N, MemoryEL2N, MemoryEL3}[el]
	}
	return [4]Memories{MemoryEL1S, MemoryEL1S, MemoryEL2S, MemoryEL3}[el]
}

// securityMemory returns the spaces of a security state: ETMv3 and PTM tell no
// more of where an instruction was read.
func securityMemory(ns bool) Memories {
	if ns {
		return NonSecureMemory
	}
	return SecureMemory
}

// MemorySearch is a search for the spaces that streams tell of. It ends as soon as those found
// are enough.
type MemorySearch struct {
	Found  Memories
	Enough func(found Memories) bool
}

// add adds what was found, and reports whether the search goes on.
func (s *MemorySearch) add(m Memories) bool {
	if m&^s.Found == 0 {
		return true
	}
	s.Found |= m
	return !s.Enough(s.Found)
}

// memoriesV4 finds the spaces of the contexts that an ETMv4 or ETE states.
func memoriesV4(st *Stream, data []byte, s *MemorySearch) {
	for p := range etmv4.NewLexer(st.CoreSight(), data, 0).All() {
		switch p.Kind {
		case etmv4.Context, etmv4.AddrCtxt32, etmv4.AddrCtxt64:
			if !s.add(contextMemory(p.Extra)) {
				return
			}
		}
	}
}

// memoriesV3 and memoriesPTM find the spaces of the security states that they state.
func memoriesV3(st *Stream, data []byte, s *MemorySearch) {
	c := v3Config(st, false)
	stated(etmv3.NewLexer(c.Format(), data, 0).All(), s)
}

func memoriesPTM(st *Stream, data []byte, s *MemorySearch) {
	c := ptmConfig(st, false)
	stated(ptm.NewLexer(c.Format(), data, 0).All(), s)
}

// stated finds the spaces of the security states that packets state.
func stated[P any, T interface {
	*P
	NonSecure() (ns, ok bool)
}](packets iter.Seq[P], s *MemorySearch) {
	var one P // not one for each packet
	for one = range packets {
		if ns, ok := T(&one).NonSecure(); ok && !s.add(securityMemory(ns)) {
			return
		}
	}
}

// noMemories: messages of software say nothing of where it ran.
func noMemories(*Stream, []byte, *MemorySearch) {}
