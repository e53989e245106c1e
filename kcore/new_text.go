package kcore

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// TextOptions is what else is known when a Text is built. The zero value knows
// nothing else.
type TextOptions struct {
	// Taken bounds when the image was copied, ns; nil: by its bytes alone, so
	// that one part of it may be of another moment than the rest.
	Taken *event.Time
	// Late is another copy, of after the last poke; nil: there is none. What it
	// shows of a poked site vouches for the last poke, or denies it.
	Late *image.Image
	// Symbols name the addresses in findings; nil leaves them nameless.
	Symbols *symbols.Table
	// Learned is code that lay there whatever the images hold. What of it changed once
	// is among the pokes: see Journal.WithLearned.
	Learned []Learned
}

// NewText brings image and journal together. Either may be empty. Both belong
// to the Text from then on and must not change.
func NewText(j *Journal, img *image.Image, opt TextOptions) *Text {
	bare := img
	img, opt.Late = layOver(img, opt.Learned), layOver(opt.Late, opt.Learned)
	if opt.Late != nil {
		img, opt.Late = withoutHoles(img, opt.Late), withoutHoles(opt.Late, img)
	}
	t := &Text{img: img, j: j, pages: map[uint64]*page{}, bare: bare, learned: opt.Learned}
	for i := range j.pokes {
		if j.pokes[i].Mark() {
			continue
		}
		r := j.pokes[i].Range()
		for pg := r.Addr >> pageShift; pg <= r.Last()>>pageShift; pg++ {
			p := t.addPage(pg)
			p.pokes = append(p.pokes, int32(i))
		}
	}
	slices.Sort(t.order)
	for _, pg := range t.order {
		if p := t.pages[pg]; len(p.pokes) > fewPokes {
			p.lines = linesOf(j, p)
		}
	}
	b := builder{t: t, early: img, late: opt.Late, syms: opt.Symbols, found: map[findingKey]*Finding{}}
	for _, l := range j.lost {
		t.losses = append(t.losses, LostRecords{Time: l.Time})
	}
	if opt.Taken != nil {
		_, last := j.Epochs(*opt.Taken)
		b.before = last == 0
	}
	shot := b.placeImage(opt.Taken)
	i := 0
	b.eachSite(func(s *site) {
		b.choose(s, &shot, i)
		b.addSite(s)
		b.doubtLosses(s)
		i++
	})
	if opt.Late != nil {
		b.addLate(opt)
	}
	b.finish(opt)
	return t
}

// eachSite gives the sites to do, by page, with what the image says of them. They
// are made anew each time: those of millions of pokes take more memory than all that
// stays of them.
func (b *builder) eachSite(do func(*site)) {
	for _, pg := range b.t.order {
		p := b.t.pages[pg]
		for _, s := range sitesOf(b.t.j, b.early, b.late, p.base, p.pokes, &b.bytes) {
			s.compare()
			do(s)
		}
	}
}

// addPage returns page number pg, which it makes if there is none yet.
func (t *Text) addPage(pg uint64) *page {
	p := t.pages[pg]
	if p == nil {
		p = &page{base: pg << pageShift}
		t.pages[pg] = p
		t.order = append(t.order, pg)
	}
	return p
}

// linesOf sorts the pokes of a page by the lines that they touch.
func linesOf(j *Journal, p *page) *pokeLines {
	l := &pokeLines{}
	for _, i := range p.pokes {
		r := j.pokes[i].Range()
		from, to := max(r.Addr, p.base), min(r.Last(), p.base+pageSize-1)
		for n := (from - p.base) >> lineShift; n <= (to-p.base)>>lineShift; n++ {
			l[n] = append(l[n], i)
		}
	}
	return l
}

// builder is what is needed while a Text is made.
type builder struct {
	t       *Text
	found   map[findingKey]*Finding
	early   *image.Image
	late    *image.Image      // nil: none
	syms    *symbols.Table    // nil: none
	jump    []byte            // of the site at hand: see staticBranch, strays
	bytes   [2][pageSize]byte // of a page in the two images
	extra   []Finding         // of text that no poke names
	before  bool              // the image was copied before the first poke
	broken  bool              // some text is unknown since sources disagree
	unknown []doubt           // text around that
	lost    []doubt           // of unknown, those for lost records
}

// doubt is text that two sources disagree on.
type doubt struct {
	image.Range
	event.Span
}

// addSite makes the cells of a site and notes what does not fit.
func (b *builder) addSite(s *site) {
	pg := b.t.pages[s.base>>pageShift]
	b.jump = s.staticBranch()
	for i := range s.cells {
		c := &s.cells[i]
		out := cell{off: uint16(c.off), end: uint16(c.end), versions: make([]version, 0, len(c.chain)+1)}
		at, lo, hi := c.interval(s.at), c.interval(s.lo), c.interval(s.hi)
		_, writing := slices.BinarySearch(c.chain, int32(s.half))
		for k := 0; k <= len(c.chain); k++ {
			prev, next := s.sources(c, k)
			data, of := prev, ofNothing
			if prev != nil {
				of = newOf(s.pieces[c.chain[k-1]].poke)
			} else if next != nil {
				data, of = next, oldOf(s.pieces[c.chain[k]].poke)
			}
			switch here := k == at && c.img != nil && !writing; {
			case prev != nil && next != nil && !bytes.Equal(prev, next):
				of = ofNothing
				kind := Break
				if k == len(c.chain) {
					kind = ImageDiffers // the late one
				}
				b.conflict(s, c, k, kind)
			case (prev == nil || next == nil) && b.strays(s, c, k): // two records that agree are right: the memory of a module has other uses
				of = ofNothing
				b.conflict(s, c, k, Break)
			case here && data == nil:
				if s.vouches(c, k, lo, hi, b.before) && !s.unmapped(c, k) {
					of, out.img = ofImage, c.img
				}
			case here && !bytes.Equal(data, c.img):
				of = ofNothing
				b.conflict(s, c, k, ImageDiffers)
			}
			out.versions = append(out.versions, version{s.span(c, k).From, of})
		}
		pg.cells = append(pg.cells, out)
	}
}

// unmapped reports whether the image's bytes in interval k, of which the pokes
// say only that text had gone or was to appear, are zeros throughout.
func (s *site) unmapped(c *siteCell, k int) bool {
	return k > 0 && s.blank(c.chain[k-1]) || k < len(c.chain) && s.blank(c.chain[k])
}

// A poke longer than this is a slot or a trampoline, not an instruction; a
// change seen in part of it leaves the rest as it was.
const shortPoke = 16 // bytes

// conflict notes that the sources of the cell's interval k disagree.
func (b *builder) conflict(s *site, c *siteCell, k int, kind FindingKind) {
	span := s.span(c, k)
	b.broken = true
	last, next := -1, -1
	if k > 0 {
		last = int(s.pieces[c.chain[k-1]].poke)
	}
	if k < len(c.chain) {
		next = int(s.pieces[c.chain[k]].poke)
	}
	for _, i := range []int{last, next} {
		if i >= 0 && b.t.j.pokes[i].size() <= shortPoke {
			b.unknown = append(b.unknown, doubt{b.t.j.pokes[i].Range(), span})
		}
	}
	have, want := s.sources(c, k)
	if want == nil { // the next poke does not say what lay here: the last one's text is denied
		next = -1
	}
	key := findingKey{kind, last, next}
	if next >= 0 {
		key.last = -1 // one finding a poke, whatever lay before its bytes
	}
	f := b.found[key]
	if f == nil {
		f = newFinding(b.t.j, kind, last, next, span)
		b.found[key] = f
	}
	f.Span.From = max(f.Span.From, span.From)
	f.Last = max(f.Last, last)
	switch {
	case kind == ImageDiffers && k == len(c.chain) && want != nil:
		have = c.late
	case kind == ImageDiffers:
		have = c.img
	case have == nil: // nothing before contradicts it but what the site holds at other times
		have = b.jump
	}
	copy(f.Have[s.base+uint64(c.off)-f.Addr:], have)
	if kind == Break && want == nil {
		copy(f.Want[s.base+uint64(c.off)-f.Addr:], b.jump)
	}
}

// finish applies the doubts and joins versions that do not differ.
func (b *builder) finish(opt TextOptions) {
	marks := map[*cell][]event.Span{}
	for _, d := range b.unknown {
		for pg := d.Addr >> pageShift; pg <= d.Last()>>pageShift; pg++ {
			p, base := b.t.pages[pg], pg<<pageShift
			i := sort.Search(len(p.cells), func(i int) bool { return base+uint64(p.cells[i].end) > d.Addr })
			for ; i < len(p.cells) && base+uint64(p.cells[i].off) <= d.Last(); i++ {
				marks[&p.cells[i]] = append(marks[&p.cells[i]], d.Span)
			}
		}
	}
	for _, p := range b.t.pages {
		for i := range p.cells {
			c := &p.cells[i]
			c.forget(marks[c])
			b.t.joinVersions(p, c)
		}
	}
	for _, f := range b.found {
		f.complete(b.t, opt.Symbols)
		b.t.findings = append(b.t.findings, *f)
	}
	b.t.findings = append(b.t.findings, b.extra...)
	b.flip()
	if b.broken || len(b.unknown) > 0 {
		b.t.doubtTraps()
	}
	slices.SortFunc(b.t.findings, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.Addr, y.Addr), cmp.Compare(x.Span.From, y.Span.From), cmp.Compare(x.Kind, y.Kind))
	})
}
