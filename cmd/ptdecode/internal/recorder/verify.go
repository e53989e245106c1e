package recorder

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// verify opens the recording as every verb does, and says what is in it. sound is false
// where something of it cannot be read, or was lost.
func (c *Config) verify(p *plan) (sound bool, err error) {
	s, err := decoder.Open(decoder.Config{Recording: p.output})
	if err != nil {
		return false, fmt.Errorf("the recording cannot be read: %w", err)
	}
	defer s.Close()
	sound = true
	for _, w := range s.Warnings() {
		if !w.Doubt || w.NoText && !p.kernel {
			continue
		}
		sound = false
		c.Say("%s", w.What)
		if w.Hint != "" {
			c.Hint("%s", w.Hint)
		}
	}
	pokes := 0
	for range s.Pokes() {
		pokes++
	}
	c.Say("%s: %s; %s to the kernel's code", p.output, traceOf(s), count(pokes, "change"))
	if n := unrecorded(s); n > 0 {
		c.Say("%s: at %s code changed without a record: ptdecode check names them", p.output, count(n, "place"))
	}
	if p.kernel && !c.arrived(p, s) {
		sound = false
	}
	if sound {
		c.Say("%s: done", p.output)
	}
	return sound, nil
}

// count renders how many there are of a thing.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// traceOf says how much trace a recording has.
func traceOf(s *decoder.Session) string {
	n, size := 0, int64(0)
	for _, st := range s.Streams() {
		if st.Size > 0 {
			n, size = n+1, size+st.Size
		}
	}
	if n == 0 {
		return "no trace"
	}
	return fmt.Sprintf("%d KiB of trace in %s", size>>10, count(n, "stream"))
}

// unrecorded counts the places at which code is other than the records say.
func unrecorded(s *decoder.Session) (n int) {
	for _, f := range s.Text().Findings() {
		if f.Kind == kcore.ImageDiffers || f.Kind == kcore.Break {
			n++
		}
	}
	return n
}

// arrived says what code came while the recording was made and is still there, and
// reports whether it is known.
func (c *Config) arrived(p *plan, s *decoder.Session) bool {
	early, errE := symbols.OpenKallsyms(filepath.Join(p.output, earlyDir, "kallsyms"))
	late, errL := symbols.OpenKallsyms(filepath.Join(p.output, lateDir, "kallsyms"))
	mods, errM := symbols.OpenModules(filepath.Join(p.output, lateDir, "modules"))
	if errE != nil || errL != nil || errM != nil {
		return true // told of where they are copied and opened
	}
	known, unknown := newCode(early, symbols.New(late, mods, nil), func(addr, n uint64) bool {
		b := make([]byte, min(n, pageSize-addr%pageSize)) // the last symbol's end is guessed
		return s.Code(b, 0, addr, event.Epoch(s.Text().Len())) == len(b)
	})
	if len(known) > 0 {
		c.Say("%s: came meanwhile, and its code is known: %s", p.output, strings.Join(known, ", "))
	}
	if len(unknown) > 0 {
		c.Say("%s: came meanwhile, and its code is not known: %s", p.output, strings.Join(unknown, ", "))
		return false
	}
	return true
}

// slotPages are pages for the slots of probes, which records fill one by one: a page
// without any is zeros (kernel/kprobes.c, kprobe_get_kallsym, v6.12).
const slotPages = "__builtin__kprobes"

// leastBPF is what of a BPF program is looked at, bytes: kallsyms does not say where it
// ends, and a JIT makes no shorter one.
const leastBPF = 16

// newCode returns the modules, and the makers of code without a module, of which some
// code is new: those whose code is held, and the others.
func newCode(early *symbols.Kallsyms, late *symbols.Table, held func(addr, n uint64) bool) (known, unknown []string) {
	was := map[string]bool{}
	key := func(addr uint64, name string) string { return fmt.Sprintf("%x %s", addr, name) }
	for i := range early.Len() {
		if y := early.Entry(i); y.Module != "" {
			was[key(y.Addr, y.Name)] = true
		}
	}
	lacks := map[string]bool{}
	for _, y := range late.Named(func(string) bool { return true }) {
		if y.Module == "" || y.Module == slotPages || !y.Code || was[key(y.Addr, y.Name)] {
			continue
		}
		name := y.Module
		if strings.HasPrefix(y.Name, "bpf_") {
			name = y.Name
		}
		n := y.Len
		if y.Module == "bpf" {
			n = min(n, leastBPF)
		}
		lacks[name] = lacks[name] || !held(y.Addr, n)
	}
	for name, no := range lacks {
		if no {
			unknown = append(unknown, name)
		} else {
			known = append(known, name)
		}
	}
	slices.Sort(known)
	slices.Sort(unknown)
	return known, unknown
}
