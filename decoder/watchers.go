package decoder

import (
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
	"github.com/ptdecode/ptdecode/kcore"
)

// watchers is who decodes to learn, one decoding behind the other, and what they built. Each decoding may be of other
// code, all of it laid over the blocks that are read to learn. Memory that was never touched costs more than to
// forget what lies in it.
type watchers struct {
	*followers
	running *scratches  // of all decodings
	text    laidText    // what followers read
	of      *kcore.Text // the code that they know, and what they built is of; nil: they know none
	changes int         // trials.Blocks.Changes then
}

// laidText is the code of the decoding under way.
type laidText struct{ flow.Text }

// watch has r, of code c, be decoded by w, over blocks of that code. No other decoding is under way.
func (w *watchers) watch(r *run, c *code, b *trials.Blocks) {
	if w.followers == nil {
		w.followers, w.running = r.idle, r.running
	}
	if w.of != c.text.Text || w.changes != b.Changes() {
		w.forget()
	}
	w.text.Text, w.of, w.changes = c.text, c.text.Text, b.Changes()
	c.trial = &w.text
	r.idle, r.running = w.followers, w.running
}

// forget has w know nothing of any code.
func (w *watchers) forget() {
	for _, f := range w.list {
		f.walker.Renew()
	}
	for x := range w.running.Each {
		x.Forget()
	}
}
