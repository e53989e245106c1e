package repair

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/kcore"
)

// Code that the kernel makes is a copy of a template: of a trampoline in its text, with
// other displacements, or like another copy (arch/x86/kernel/ftrace.c, create_trampoline,
// and arch/x86/kernel/kprobes/opt.c, arch_prepare_optimized_kprobe, v6.1).

const (
	leastCopy = 64 // bytes: shorter code is not taken for a copy
	equalBy   = 8  // bytes beside a wrong one that are as in the template
	anchor    = 16 // bytes by which a template is looked for

	// longer code is not taken for a copy, bytes: a trampoline lies within one page
	mostCopy = 4096
	// searches of the image for all copies of a recording together
	mostSearches = 1 << 10
)

// copies corrects bytes of code that appears, where templates have others.
func (r *repairer) copies(pokes []kcore.Poke) {
	var made []*kcore.Poke
	for i := range pokes {
		if p := &pokes[i]; len(p.Old) == 0 && leastCopy <= len(p.New) && len(p.New) <= mostCopy {
			made = append(made, p)
		}
	}
	for _, p := range made {
		known := false
		for _, addr := range r.templates(p.New) {
			if img := r.image(addr, len(p.New)); img != nil && alike(p.New, img) {
				r.copied(p, addr, img)
				known = true
				break
			}
		}
		if known {
			continue
		}
		var others []*kcore.Poke // of which two must have the byte
		for _, q := range made {
			if q != p && len(q.New) == len(p.New) && alike(p.New, q.New) {
				if others = append(others, q); len(others) == 2 {
					break
				}
			}
		}
		if len(others) > 1 {
			r.copied(p, others[0].Addr, others[0].New, others[1].New)
		}
	}
}

// alike reports whether most of a is as in b, which is as long.
func alike(a, b []byte) bool {
	same := 0
	for k := range a {
		if a[k] == b[k] {
			same++
		}
	}
	return same >= len(a)*3/4
}

// templates returns where the image holds what b is a copy of, perhaps. Behind the last
// search that may be made it finds none.
func (r *repairer) templates(b []byte) (addrs []uint64) {
	if r.find == nil {
		return nil
	}
	for k := 0; k+anchor <= len(b); k += anchor {
		if r.searches++; r.searches > mostSearches {
			break
		}
		for _, at := range r.find(b[k : k+anchor]) {
			if a := at - uint64(k); !slices.Contains(addrs, a) {
				addrs = append(addrs, a)
			}
		}
	}
	return addrs
}

// copied corrects the bytes of p that alone differ from a template at addr, and from all in
// also, unless it is a displacement.
func (r *repairer) copied(p *kcore.Poke, addr uint64, template []byte, also ...[]byte) {
	for k := equalBy; k+equalBy < len(p.New); k++ {
		b := p.New[k]
		if b == template[k] || !slices.Equal(p.New[k-equalBy:k], template[k-equalBy:k]) || !slices.Equal(p.New[k+1:k+1+equalBy], template[k+1:k+1+equalBy]) {
			continue
		}
		if slices.ContainsFunc(also, func(c []byte) bool { return c[k] != template[k] }) {
			continue
		}
		if relative(p.New[k-3:k+4], template[k-3:k+4], p.Addr-addr) {
			continue
		}
		setByte(p, k, true, template[k])
		r.wrong++
		r.doubt(p, p.Begin, math.MaxUint64)
	}
}

// relative reports whether four bytes of a are the displacement to where b's, by lower
// addresses, lead, too.
func relative(a, b []byte, by uint64) bool {
	for i := 0; i+4 <= len(a); i++ {
		if binary.LittleEndian.Uint32(a[i:])+uint32(by) == binary.LittleEndian.Uint32(b[i:]) {
			return true
		}
	}
	return false
}
