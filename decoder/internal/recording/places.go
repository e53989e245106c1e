package recording

import (
	"sort"
	"sync"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
)

// csPlaces knows where in the files of a recording the bytes of a trace unit's
// stream stand. Those in frames are taken out of them again where a place is
// asked for: that is seldom, and what would have to be kept of every byte is not.
type csPlaces struct {
	parts []csPart // by at

	mu     sync.Mutex
	frames coresight.Deframer // of part taken-1
	taken  int                // 0: no part's frames were taken apart yet
}

// csPart is what of a stream was stored at once.
type csPart struct {
	at        int64            // in the stream, bytes
	aux       *perfdata.Stream // of the AUX area
	from, end int64            // in aux, bytes
	raw       bool             // one source's bytes, not frames
	id        uint8            // of the source in the frames: its trace ID
}

// fileOff is Stream.FileOff of the stream whose places these are.
func (p *csPlaces) fileOff(off int64) (file string, at int64, ok bool) {
	i := sort.Search(len(p.parts), func(i int) bool { return p.parts[i].at > off }) - 1
	if i < 0 {
		return "", 0, false
	}
	c := &p.parts[i]
	if off -= c.at; c.raw {
		return c.aux.FileOff(c.from + off)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken != i+1 {
		p.frames.Recycle()
		p.frames.Write(c.aux.Bytes(c.from, c.end-c.from))
		p.frames.Close()
		p.taken = i + 1
	}
	return c.aux.FileOff(c.from + p.frames.Stream(c.id).SourceOff(off))
}
