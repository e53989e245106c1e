package perfetto

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/pt"
)

// speedEvery is how far apart the values of a counter lie at least, ns.
const speedEvery = 10_000

// speeds writes the counters of a stream for the time up to s, where that is long enough. They
// are instructions a microsecond, and instructions a cycle where the trace counts cycles.
func (k *Sink) speeds(stream int, s *decoder.Stamp) {
	c, now := &k.cpus[stream], s.Time.Lo
	if c.from != 0 && now < c.from+speedEvery {
		return
	}
	st := k.s.Streams()[stream]
	if c.from != 0 {
		k.happens(stream, trackSpeed, trackEvent{kind: counter, time: c.from, value: float64(c.insns) * 1000 / float64(now-c.from)})
		if c.cycles.reach(st, s.Off); c.cycles.n > 0 {
			k.happens(stream, trackCycles, trackEvent{kind: counter, time: c.from, value: float64(c.insns) / float64(c.cycles.n)})
		}
	}
	c.insns, c.from = 0, now
	c.cycles.begin(st, s.Off)
}

// cycles counts the cycles of a core from one place in its stream to another: the sum of the CYC
// packets between (Intel SDM, "Cycle Count (CYC) Packet"). The flow has none of them, so
// they are read once more. The CYC of a packet stands before it, so cycles up to a packet are
// those that passed until then. The core counts on where what it executes is not traced.
// That is left out.
type cycles struct {
	looked bool // whether the stream has CYC packets was asked
	has    bool
	at     int64  // place in the stream that was read up to, bytes
	n      uint64 // since begin
	lexer  pt.Lexer
}

// maxAtOnce is how many bytes are read at once at most, and how far the first CYC may lie.
const maxAtOnce = 64 << 10

// begin begins to count at off.
func (c *cycles) begin(st *decoder.Stream, off int64) {
	if !c.looked {
		c.looked = true
		u, ok := st.Unit.(pt.Config)
		if ok && st.Guest == 0 && !u.CYC {
			n, _ := c.sum(st.Data.Bytes(st.Head, maxAtOnce))
			u.CYC = n > 0
		}
		c.has = u.CYC && st.Guest == 0
	}
	c.n, c.at = 0, off
}

// reach counts up to off.
func (c *cycles) reach(st *decoder.Stream, off int64) {
	for c.has && c.at < off {
		b := st.Data.Bytes(c.at, min(off-c.at, maxAtOnce))
		if len(b) == 0 {
			return
		}
		n, used := c.sum(b)
		c.n += n
		c.at += int64(used)
	}
}

// sum returns the cycles of the packets in b, and how many bytes these have: at the end may be
// the beginning of one.
func (c *cycles) sum(b []byte) (n uint64, used int) {
	c.lexer.Reset(b, 0)
	for p := (pt.Packet{}); c.lexer.Next(&p); {
		if p.Kind == pt.CYC {
			n += p.Value
		}
		if p.Kind != pt.Bad || used == 0 {
			used = int(p.End())
		}
	}
	return n, used
}

// skips leaves out what lies up to off.
func (c *cycles) skips(off int64) { c.at = max(c.at, off) }
