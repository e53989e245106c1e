package stream

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestProtocolRows would catch a row of the table of protocols that leaves out
// what every stream of it needs, or that has no name of its own.
func TestProtocolRows(t *testing.T) {
	seen := map[string]Protocol{}
	for p := Protocol(0); p < numProtocols; p++ {
		r := &protocols[p]
		if r.name == "" || r.sync == "" {
			t.Errorf("protocol %d: name %q, sync %q", p, r.name, r.sync)
		}
		if o, had := seen[r.name]; had {
			t.Errorf("protocols %d and %d are both called %s", o, p, r.name)
		}
		seen[r.name] = p
		if r.points == nil || r.rules == nil || r.events == nil || r.packets == nil || r.isa == nil {
			t.Errorf("%s: something is missing: %+v", r.name, r)
			continue
		}
		if r.mode == isa.ModeUnknown || r.isa.MaxLen() == 0 || r.isa.MaxLen() > 15 {
			t.Errorf("%s: mode %s, instructions of up to %d bytes, need 1 to %d", r.name, r.mode, r.isa.MaxLen(), 15)
		}
		st := &Stream{Protocol: p}
		if st.Packets() == nil || r.events(st, false) == nil || r.rules(st).Stack > isa.MaxStack {
			t.Errorf("%s: cannot be used with an empty stream", r.name)
		}
	}
	if s := Protocol(255).String(); s != "?" {
		t.Errorf("no protocol is called %q", s)
	}
}
