package perfetto

import "github.com/ptdecode/ptdecode/decoder/calls"

// writeSteps writes calls that begin and end, as begins and ends would.
func (k *Sink) writeSteps(of *line, x steps, nameOf func(function uint32) (sym, file string, addr uint64)) {
	t, named := k.threadOf(of.st, of.tid, of.comm), &k.named[of.st.Index]
	for n := 0; ; n++ {
		if n = k.w.steps(&t.slices, &x, n, *named, t.seq.turn, &t.at); n == len(x.at) {
			break
		}
		t.at = max(t.at, x.at[n])
		sym, _, addr := nameOf(x.function[n])
		k.names(t, named, int(x.function[n]), sym, addr)
	}
	if len(k.w.out) >= writeBytes {
		k.w.flush()
	}
}

// steps writes steps from one on, up to a call that begins and whose name has no number. It returns which that is. turn
// is that of the sequence that s is of. at is the time of its last packet, ns.
func (w *writer) steps(s *slices, x *steps, from int, named nameCache, turn uint32, at *uint64) int {
	end := len(x.ended)
	out, n, now := w.room((end-from)*maxPacket), 0, *at
	if now != s.time {
		s.goesTo(now)
	}
	times, insns, functions, verdicts := x.at[:end], x.insns[:end], x.function[:end], x.verdict[:end]
	i := from
	for ; i < end; i++ {
		if at := times[i]; at > now {
			now = at
			s.goesTo(now)
		}
		b := (*[maxPacket]byte)(out[n:])
		if ended := x.ended[i]; ended != calls.InProgress {
			n += s.ending(b, insns[i], &w.notes[verdicts[i]][ended])
			continue
		}
		f := int(functions[i])
		if f >= len(named) || named[f].turn != turn || named[f].id == 0 {
			break
		}
		n += s.beginning(b, uint64(named[f].id))
	}
	w.out, *at = w.out[:len(w.out)+n], now
	return i
}
