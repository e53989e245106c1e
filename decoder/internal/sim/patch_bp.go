package sim

import "sort"

// edit is one site of a batch and what it becomes.
type edit struct {
	addr uint64
	text []byte
	emu  emulation // what a CPU that traps does: the new instruction
}

// batchJob rewrites some of the sites in one batch.
func (p *patcher) batchJob(sites []*site) {
	if edits := p.others(sites); len(edits) > 0 {
		p.pokeBP(edits)
	}
}

// pokeBP rewrites sites in three steps (smp_text_poke_batch_finish,
// arch/x86/kernel/alternative.c, v7.3.4): INT3 at every site; their tails, and
// the records; their first bytes; and after each step every CPU synchronises.
func (p *patcher) pokeBP(edits []edit) []*Poke {
	sort.Slice(edits, func(i, j int) bool { return edits[i].addr < edits[j].addr })
	p.batch++
	var pokes []*Poke
	for _, e := range edits {
		old := p.m.mem.read(e.addr, len(e.text))
		k := p.newPoke(SchemeBP, e.addr, old, e.text)
		pokes = append(pokes, k)
		p.active[e.addr] = trapAction{e.emu, k}
		p.ambush(e.addr)
	}
	for i, e := range edits {
		p.t++
		p.write(e.addr, []byte{0xcc}, pokes[i], writeTrap)
	}
	p.pause()
	p.sync()
	for _, e := range edits {
		if len(e.text) > 1 {
			p.t++
			p.write(e.addr+1, e.text[1:], nil, writeOther)
		}
	}
	for _, k := range pokes {
		p.record(k)
	}
	p.pause()
	p.sync()
	for i, e := range edits {
		if e.text[0] != 0xcc {
			p.t++
			p.write(e.addr, e.text[:1], pokes[i], writeNew)
		}
	}
	p.pause()
	p.sync()
	for i, e := range edits {
		pokes[i].End = p.t
		delete(p.active, e.addr)
	}
	return pokes
}
