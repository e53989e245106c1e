package patchers

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
)

// How a function of the kernel is watched.
const (
	ByBreakpoint = "breakpoint at "
	ByProbe      = "probe of "
)

// watch notes which of the kernel's patchers the breakpoints of a recording are set at.
func (x *Patches) watch() {
	for _, a := range x.r.Attrs() {
		if a.Type == perfdata.EventBreakpoint && Watches(a, x.r) {
			x.seen[ByBreakpoint+x.nameOf(x.breakpoint(a.Config1))] = true
		}
	}
	delete(x.seen, ByBreakpoint)
}

// Maintained names a breakpoint behind the maintenance of caches.
const Maintained = "the end of their maintenance"

// nameOf names a patcher; "" is that of none.
func (x *Patches) nameOf(what patcher) string {
	if what == patchCleaned {
		return Maintained
	}
	for _, row := range patcherRows() {
		if what != patchNone && (row.at == what || row.end == what) {
			return row.name
		}
	}
	return ""
}

// Covers says which functions breakpoints or probes watch.
type Covers struct {
	Seen   []string // functions, each behind ByBreakpoint or ByProbe
	Back   uint64   // where patchers go on behind the caches' maintenance; 0: not seen
	Unread int      // samples of probes that lack arguments
	First  uint64   // ns: the time of the first change; 0: none
	Waited bool     // no watched event recorded before all were opened
}

// Covers returns what the samples tell of, as far as they were taken.
func (x *Patches) Covers() Covers {
	waits := !slices.ContainsFunc(x.r.Attrs(), func(a *perfdata.Attr) bool { return Watches(a, x.r) && a.Flags&perfdata.AttrDisabled == 0 })
	return Covers{slices.Sorted(maps.Keys(x.seen)), x.back, x.unread, x.first, waits}
}

// Has reports whether a function is watched in a way.
func (c *Covers) Has(how, name string) bool { return slices.Contains(c.Seen, how+name) }

// Event is a breakpoint at a function as perf takes it on its command line. An older kernel
// has another function in its place.
func (x *Patches) Event(name string) string {
	if addr, ok := x.find(x.known(name)); ok {
		return fmt.Sprintf("-e mem:0x%x:x", addr)
	}
	return name
}

// Named is the name that a patcher has in this kernel.
func (x *Patches) Named(name string) string { return x.known(name) }

// There reports whether the kernel has a function.
func (x *Patches) There(name string) bool {
	_, ok := x.find(name)
	return ok
}
