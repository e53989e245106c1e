package stream

import "github.com/ptdecode/ptdecode/decoder/event"

// StatedTargets returns addresses, least or higher, to which the traces of streams say that
// an indirect branch went: so many at most.
func StatedTargets(streams []*Stream, most int, least uint64) map[uint64]bool {
	set := map[uint64]bool{}
	for _, st := range streams {
		if !st.Executes() {
			continue
		}
		for e := range Events(st, true) {
			if len(set) >= most {
				return set
			}
			if e.Kind == event.Target && e.IP >= least {
				set[e.IP] = true
			}
		}
	}
	return set
}
