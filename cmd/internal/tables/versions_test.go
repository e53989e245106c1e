package tables

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/kcore"
)

// TestVersions would catch a version that lacks, comes twice, has the bytes or the times of another
// one, or outlives a change to a part of it. Code comes and goes, too.
func TestVersions(t *testing.T) {
	var got []string
	v := versions{map[uint64]*version{}, func(x *version) {
		got = append(got, fmt.Sprintf("%x %x %d-%d %d-%d", x.addr, x.bytes, x.since, x.until, x.poke, x.next))
	}}
	for i, p := range []struct {
		addr     uint64
		old, new string
	}{
		{0x100, "aaaa", "bbbb"}, // 0
		{0x200, "", "cc"},       // 1: a trampoline comes
		{0x100, "bbbb", "aaaa"}, // 2
		{0x102, "aa", "d"},      // 3: a part of it, and it gets shorter
		{0x200, "cc", ""},       // 4: and goes
		{0x200, "", "ee"},       // 5
	} {
		v.follow(&decoder.PokeInfo{Poke: &kcore.Poke{Addr: p.addr, Old: []byte(p.old), New: []byte(p.new), Time: uint64(10 + i)}, Index: i})
	}
	v.ends()
	want := []string{
		"100 61616161 0-10 -1-0", "100 62626262 10-12 0-2", "100 61616161 12-13 2-3", "200 6363 11-14 1-4",
		"102 64 13-0 3--1", "200 6565 15-0 5--1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
