package bundle

import "strings"

// names replaces names by others of the same length: the same name always by the same.
type names struct {
	of    map[string]string
	count map[int]int // by length: how many were made
}

func newNames() *names { return &names{of: map[string]string{}, count: map[int]int{}} }

// digits are what names are made of. Other bytes are x.
const digits = "abcdefghijklmnopqrstuvwyz0123456789"

// name returns what stands for a name. Where there are more names of a length than
// digits can tell apart, some share one.
func (n *names) name(s string) string {
	if s == "" {
		return s
	}
	if r, ok := n.of[s]; ok {
		return r
	}
	b := []byte(strings.Repeat("x", len(s)))
	for again := true; again; {
		k := n.count[len(s)]
		n.count[len(s)]++
		for i := len(b) - 1; i >= 0; i-- {
			if b[i] = 'x'; k > 0 || i == len(b)-1 {
				b[i] = digits[k%len(digits)]
			}
			k /= len(digits)
		}
		again = string(b) == s
	}
	n.of[s] = string(b)
	return n.of[s]
}

// path returns what stands for a path: each part of it is replaced for itself. What the
// kernel maps without a file keeps its name.
func (n *names) path(s string) string {
	for _, kernel := range []string{"[", "//anon", "//toolong", "//enomem", "anon_inode:"} {
		if strings.HasPrefix(s, kernel) {
			return s
		}
	}
	parts := strings.Split(s, "/")
	for i, p := range parts {
		if p != "." && p != ".." {
			parts[i] = n.name(p)
		}
	}
	return strings.Join(parts, "/")
}

// bpf returns a symbol of the kernel without what names a BPF program in it: all behind
// its tag (kernel/bpf/core.c, bpf_prog_ksym_set_name, v6.12).
func (n *names) bpf(s string) string {
	const tagged = len("bpf_prog_") + 16 + len("_")
	if !strings.HasPrefix(s, "bpf_prog_") || len(s) <= tagged {
		return s
	}
	return s[:tagged] + n.name(s[tagged:])
}
