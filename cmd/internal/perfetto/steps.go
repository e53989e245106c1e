package perfetto

import "github.com/ptdecode/ptdecode/decoder/calls"

// takes takes calls that begin and end (calls.Tree.OnSteps), where all of them are wanted. It writes what begins
// and ends would write.
func (k *Sink) takes(x *calls.Rows) {
	ran := x.Ran[0]
	t, named := k.threadOf(ran.Stream, ran.TID, ran.Comm), &k.named[ran.Stream.Index]
	for n := 0; ; n++ {
		if n = k.w.steps(&t.slices, x, n, *named, t.seq.turn, &t.at); n == x.N {
			break
		}
		t.at = max(t.at, x.Begin[n])
		sym, _, addr := k.tree.Named(x.Function[n])
		k.names(t, named, int(x.Function[n]), sym, addr)
	}
	if len(k.w.out) >= writeBytes {
		k.w.flush()
	}
}

// steps writes steps from one on, up to a call that begins and whose name has no number. It returns which that is. turn
// is that of the sequence that s is of. at is the time of its last packet, ns.
func (w *writer) steps(s *slices, x *calls.Rows, from int, named nameCache, turn uint32, at *uint64) int {
	end := min(x.N, len(x.Ended))
	out, n, now := w.room((end-from)*maxPacket), 0, *at
	if now != s.time {
		s.goesTo(now)
	}
	i := from
	for ; i < end; i++ {
		if at := x.Begin[i]; at > now {
			now = at
			s.goesTo(now)
		}
		b := (*[maxPacket]byte)(out[n:])
		if ended := x.Ended[i]; ended != calls.InProgress {
			n += s.ending(b, x.Insns[i], &w.notes[x.Verdict[i]][ended])
			continue
		}
		f := int(x.Function[i])
		if f >= len(named) || named[f].turn != turn || named[f].id == 0 {
			break
		}
		n += s.beginning(b, uint64(named[f].id))
	}
	w.out, *at = w.out[:len(w.out)+n], now
	return i
}
