package sim

import "iter"

// pace is the time of a patcher, whose jobs are written as straight code that
// sleeps and waits while the CPUs run: it is a coroutine of the machine's loop.
type pace struct {
	r      rnd
	t      uint64 // time at which it goes on, ticks
	window uint64 // how long one step of a job takes, on average, ticks
	done   bool

	next  func() (struct{}, bool)
	yield func(struct{}) bool
}

func newPace(cfg *Config, t uint64) pace {
	return pace{r: newRand(cfg.Seed, 4), t: t, window: cfg.Window}
}

// begin readies work to run, at the first resume.
func (p *pace) begin(work func()) {
	p.next, _ = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		work()
	})
}

// resume runs up to the next sleep.
func (p *pace) resume() {
	if _, ok := p.next(); !ok {
		p.done, p.t = true, never
	}
}

// sleep lets time pass: around mean ticks.
func (p *pace) sleep(mean uint64) {
	p.t += p.r.around(mean)
	p.yield(struct{}{})
}

// pause sleeps as long as one step of a job takes.
func (p *pace) pause() { p.sleep(p.window) }

// wait sleeps until cond holds.
func (p *pace) wait(cond func() bool) {
	for !cond() {
		p.sleep(30)
	}
}
