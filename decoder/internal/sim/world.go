package sim

import "slices"

// world is what the machines of x86 and of Arm have in common: memory, the pokes
// that were made in it, and the images that are taken of it.
type world struct {
	cfg   Config
	mem   memory
	run   *Run
	pokes []*Poke
	copy  imageCopy
}

// load sets up memory that holds text at textAt and room for more at dynAt.
func (w *world) load(cfg Config, text []byte, textAt, dynAt uint64, syms []Symbol) {
	w.cfg, w.run = cfg, &Run{Config: cfg, Symbols: syms}
	w.mem.regions = [2]region{{textAt, uint64(len(text))}, {dynAt, dynSize}}
	w.mem.bytes = [2][]byte{text, make([]byte, dynSize)}
	w.run.Start = w.image()
}

// switchOn returns when the machine starts, ticks, and what draws the times at which
// its parts do.
func (w *world) switchOn() (r rnd, t0 uint64) {
	r = newRand(w.cfg.Seed, 2)
	return r, 1<<44 + r.n(1<<40)
}

// quota reports whether every CPU has retired its share, where n is what the
// slowest has; it starts the copies of the image on the way. now is in ticks.
func (w *world) quota(n int, now uint64) bool {
	if n >= w.cfg.Insns/4 && !w.copy.started {
		w.copy.start(now)
	}
	if n >= w.cfg.Insns/2 && w.run.Middle == nil {
		w.run.Middle, w.run.MiddleAt = w.image(), now
	}
	return n >= w.cfg.Insns
}

// interleave runs the CPUs, the patcher and the copier by time until every CPU has
// done its share and the patcher its last job.
func interleave[C runner](w *world, cpus []C, patcher *pace) {
	for {
		c, limit := earliest(cpus)
		switch {
		case patcher.t <= c.now():
			patcher.resume()
			continue
		case w.copy.t <= c.now():
			w.copy.page()
			continue
		}
		limit = min(limit, patcher.t-1)
		if w.copy.exact {
			limit = min(limit, w.copy.t-1)
		}
		for n := 0; c.now() <= limit && n < 64; n++ {
			c.exec()
		}
		if w.quota(progress(cpus), cpus[0].now()) && patcher.done && (!w.copy.exact || w.copy.t == never) {
			return
		}
		c.halts(&w.cfg)
	}
}

// number gives the run its pokes, and returns the number of each: -1 for nil.
func (w *world) number() map[*Poke]int {
	number := map[*Poke]int{nil: -1}
	for i, p := range w.pokes {
		number[p] = i
		w.run.Pokes = append(w.run.Pokes, *p)
	}
	return number
}

// image copies the text at this moment.
func (w *world) image() []Piece {
	return []Piece{{w.mem.regions[0].base, slices.Clone(w.mem.bytes[0])}}
}

// imageCopy copies the text page by page while the machine runs, as a copy
// of /proc/kcore does.
type imageCopy struct {
	mem     *memory
	run     *Run
	r       rnd
	size    int    // how much is copied at once, bytes: less than a page of memory, as the programs are small
	gap     uint64 // between two pages, ticks, on average
	t       uint64 // time of the next page, ticks; never: not running
	started bool
	exact   bool // no CPU runs past the time of the next page, and the run lasts till the last
}

func (k *imageCopy) start(t uint64) {
	k.started = true
	k.t = t
	k.run.DuringFrom = t
	k.run.During = []Piece{{Addr: k.mem.regions[0].base}}
}

func (k *imageCopy) page() {
	p := &k.run.During[0]
	text := k.mem.bytes[0]
	n := len(p.Bytes)
	p.Bytes = append(p.Bytes, text[n:min(n+k.size, len(text))]...)
	k.run.DuringTo = k.t
	k.t += k.r.around(k.gap)
	if len(p.Bytes) == len(text) {
		k.t = never
	}
}
