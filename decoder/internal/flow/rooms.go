package flow

// rangeChunk is how many ranges memory is taken for at once: above 32 KiB it begins with a
// cache line.
const rangeChunk = 2048

// rooms is where ranges of phrases, or of paths, stay. None moves when there are more.
type rooms struct {
	all [][]Range // those before at are full
	at  int
}

// stay copies rs to where it stays. Behind it there is room for others.
func (m *rooms) stay(rs []Range) *[phraseRanges]Range {
	if len(m.all) == 0 || len(m.all[m.at])+phraseRanges > rangeChunk {
		if m.at++; len(m.all) == 0 {
			m.at = 0
		}
		if m.at == len(m.all) {
			m.all = append(m.all, make([]Range, 0, rangeChunk))
		}
	}
	r := &m.all[m.at]
	n := len(*r)
	*r = append(*r, rs...)
	return (*[phraseRanges]Range)((*r)[n : n+phraseRanges])
}

// filled reports whether there are most ranges, or nearly.
func (m *rooms) filled(most int) bool { return (m.at+1)*rangeChunk >= most }

// vacate forgets all ranges, and keeps the memory.
func (m *rooms) vacate() {
	for i, r := range m.all {
		clear(r)
		m.all[i] = r[:0]
	}
	m.at = 0
}
