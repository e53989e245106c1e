package stream

// What the table of protocols has of CoreSight's in common.

// packetsOf lists packets of type P, of a protocol whose lexer is lx.
type packetsOf[P any] struct {
	lx interface {
		Reset(buf []byte, base int64)
		Next(*P) bool
	}
	fill  func([]P) int // reads as many as there are, fewer at the end; nil: Next does
	all   []P           // memory for read
	read  []P           // by fill, and not given yet
	p     P
	place func(*P) (off, size int64)
	kind  func(*P) (name string, bad bool)
	line  func(*P) string
	text  func(dst []byte, p *P, raw []byte) []byte
}

// packetsAtOnce is how many packets a lister reads at once: as many as fit the
// cache that is nearest.
const packetsAtOnce = 1024

// placed returns a packetsOf's fill of a lexer whose packets place tells where they
// lie.
func placed[P any](lx interface {
	Fill([]P) int
	Off() int64
}, place func(q []P, off int64)) func([]P) int {
	return func(q []P) int {
		off := lx.Off()
		n := lx.Fill(q)
		place(q[:n], off)
		return n
	}
}

// Reset begins with b (PacketLister).
func (l *packetsOf[P]) Reset(b []byte, off int64) {
	l.lx.Reset(b, off)
	l.read = l.read[:0]
}

// Next goes on to the next packet (PacketLister).
func (l *packetsOf[P]) Next() bool {
	if l.fill == nil {
		return l.lx.Next(&l.p)
	}
	if len(l.read) == 0 {
		if l.all == nil {
			l.all = make([]P, packetsAtOnce)
		}
		l.read = l.all[:l.fill(l.all)]
	}
	if len(l.read) == 0 {
		return false
	}
	l.p, l.read = l.read[0], l.read[1:]
	return true
}

func (l *packetsOf[P]) Place() (int64, int64)             { return l.place(&l.p) }
func (l *packetsOf[P]) Kind() (string, bool)              { return l.kind(&l.p) }
func (l *packetsOf[P]) String() string                    { return l.line(&l.p) }
func (l *packetsOf[P]) AppendText(dst, raw []byte) []byte { return l.text(dst, &l.p, raw) }

// Memory is a stream that lies in memory.
type Memory []byte

// Bytes returns n bytes from off on (event.Bytes).
func (m Memory) Bytes(off, n int64) []byte {
	size := int64(len(m))
	if off < 0 || off >= size || n <= 0 {
		return nil
	}
	return m[off:min(off+n, size)]
}
