package flow

import "github.com/ptdecode/ptdecode/decoder/isa"

// executor executes code as events tell, one decision of one thread at a time. It
// is exact and slow: where the code is plain, the walker's fast paths do the same.
// It owns what all threads share. Its parts know those that stand above them here,
// and none that stands below; none of them knows the executor.
type executor struct {
	cfg    Config
	spare  spares
	events queue
	code   reader
	out    writer

	ahead  lookout
	window window
	judge  judge
	site   site
	traps  traps
	ways   hiddenWays

	passed []int // scratch of emit
}

// prepare makes x ready to execute text whose blocks are kept in c. No field of cfg
// that bounds something is 0.
func (x *executor) prepare(text Text, c *Cache, cfg Config) {
	x.cfg = cfg
	x.code = newReader(text, c, cfg.ISA, &x.cfg.Rules, cfg.Kernel)
	x.code.watch = cfg.Watch
	x.events.brief = cfg.Brief
	x.out = writer{spare: &x.spare, batch: Batch{Stream: cfg.Stream}, late: cfg.Rules.Waypoints.Has(isa.JumpInd)}
	x.out.wait = unconfirmed{most: cfg.MaxUnconfirmed, spare: cfg.Spare, told: cfg.Rules.Returns == isa.ReturnsByTarget, contradicted: cfg.Contradicted, confirmed: cfg.Confirmed, rough: rough{on: cfg.Rough}}
	x.ahead = lookout{events: &x.events, text: text, breaks: cfg.Breaks}
	x.window = window{cfg: &x.cfg, spare: &x.spare, events: &x.events, out: &x.out, ahead: &x.ahead, align: aligner{text: versions{Text: text}, most: x.cfg.mostEdits()}}
	x.judge = judge{rules: &x.cfg.Rules, traced: cfg.Traced, code: &x.code, events: &x.events, window: &x.window}
	x.site = site{code: &x.code, events: &x.events, ahead: &x.ahead, judge: &x.judge, window: &x.window, out: &x.out, progress: cfg.Progress}
	x.traps = traps{code: &x.code, events: &x.events, out: &x.out, window: &x.window, rules: &x.cfg.Rules}
	x.ways = hiddenWays{code: &x.code, site: &x.site}
}
