package sim

// trampoline is code that function entries call and that comes and goes.
type trampoline struct {
	code *Poke
	name string
}

// trampolineJob makes a trampoline and lets some function entries call it, or takes
// one away. The record of a new trampoline follows its writing, and that of a freed
// one precedes the freeing (kernel/trace/ftrace.c, v6.1). A loaded program is the
// same without records of its bytes.
func (p *patcher) trampolineJob(sites []*site, name string, fate Fate) {
	if len(sites) == 0 {
		return
	}
	if len(p.tramps) > 0 && p.r.one(2) {
		p.removeTrampoline(p.tramps[p.r.n(uint64(len(p.tramps)))], sites)
		return
	}
	buf, ok := p.bufs.alloc()
	if !ok {
		return
	}
	text := []byte{0x9c} // pushf
	text = append(text, rel32(buf+1, p.m.prog.leaf, 0xe8)...)
	for range 1 + p.r.n(4) {
		text = append(text, 0x66, 0x90)
	}
	text = append(text, 0x9d, 0xc3) // popf, ret
	tr := &trampoline{p.appear(buf, text, false, fate), name}
	p.ksym(name, tr.code, false)
	p.tramps = append(p.tramps, tr)
	var edits []edit
	for _, s := range p.some(sites) {
		s.tramp, s.cur = tr, -1
		edits = append(edits, edit{s.addr, rel32(s.addr, buf, 0xe8), emulation{emuCall, buf, s.next}})
	}
	p.pokeBP(edits)
}

// removeTrampoline takes every call of tr away, and then tr.
func (p *patcher) removeTrampoline(tr *trampoline, sites []*site) {
	var edits []edit
	for _, s := range sites {
		if s.tramp == tr {
			edits = append(edits, s.change(int(p.r.n(uint64(len(s.vars))))))
		}
	}
	if len(edits) > 0 {
		p.ambush(tr.code.Addr + 1) // so that a CPU may still be in it afterwards
		p.pokeBP(edits)
	}
	p.vanish(tr.code)
	p.ksym(tr.name, tr.code, true)
	p.bufs.release(tr.code.Addr)
	for i := range p.tramps {
		if p.tramps[i] == tr {
			p.tramps = append(p.tramps[:i], p.tramps[i+1:]...)
			return
		}
	}
}

// change puts variant v in place and returns the edit that does it.
func (s *site) change(v int) edit {
	s.cur, s.tramp = v, nil
	return edit{s.addr, s.vars[v].text, s.vars[v].emu}
}

// some returns a random few of the sites, as many as a batch may have.
func (p *patcher) some(sites []*site) []*site {
	p.r.shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
	return sites[:min(1+int(p.r.n(uint64(p.m.cfg.Batch))), len(sites))]
}

// others returns for some of the sites an edit to a variant that does not
// stand there now.
func (p *patcher) others(sites []*site) (edits []edit) {
	for _, s := range p.some(sites) {
		v := int(p.r.n(uint64(len(s.vars))))
		if v == s.cur {
			v = (v + 1) % len(s.vars)
		}
		if v != s.cur {
			edits = append(edits, s.change(v))
		}
	}
	return edits
}
