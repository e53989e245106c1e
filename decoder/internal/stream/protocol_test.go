package stream

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestProtocolRows would catch a row of the table of protocols that leaves out
// what every stream of it needs, or that has no name of its own.
func TestProtocolRows(t *testing.T) {
	seen := map[string]bool{}
	flags := map[string]bool{}
	for _, p := range Protocols() {
		if p.Name == "" || p.Sync == "" || p.SyncHint == "" {
			t.Errorf("name %q, sync %q, hint %q", p.Name, p.Sync, p.SyncHint)
		}
		if seen[p.Name] || p.RawFlag != "" && flags[p.RawFlag] {
			t.Errorf("two protocols are called %s or --%s", p.Name, p.RawFlag)
		}
		seen[p.Name], flags[p.RawFlag] = true, true
		if p.Points == nil || p.Rules == nil || p.Events == nil || p.Packets == nil || p.Set == nil {
			t.Errorf("%s: something is missing: %+v", p.Name, p)
			continue
		}
		if n := p.Set.Decoder.MaxLen(); p.Mode == isa.ModeUnknown || n == 0 || n > 15 || ForMode(p.Mode) != p.Set {
			t.Errorf("%s: mode %s, instructions of up to %d bytes, need 1 to %d", p.Name, p.Mode, n, 15)
		}
		st := &Stream{Protocol: p}
		if st.Packets() == nil || st.Decoder(false) == nil || st.Rules().Stack > isa.MaxStack {
			t.Errorf("%s: cannot be used with an empty stream", p.Name)
		}
	}
	if s := (*Protocol)(nil).String(); s != "?" {
		t.Errorf("no protocol is called %q", s)
	}
}
