package process

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestSameID would catch a build ID that is padded with zeros, or cut, and taken for
// another; or another that is taken for it.
func TestSameID(t *testing.T) {
	md5, sha := strings.Repeat("1a", 16), strings.Repeat("2b", 20)
	for _, x := range []struct {
		have, told string
		same       bool
	}{
		{md5, md5 + "00000000", true}, {md5, md5, true}, {md5, md5 + "00000001", false},
		{sha, sha, true}, {sha + "3c3c", sha, true}, {"", strings.Repeat("00", 20), false},
		{"1a1a1a1a1a1a1a1a", "1a1a1a1a1a1a1a1a" + strings.Repeat("00", 12), true}, {md5, sha, false},
	} {
		if sameID(x.have, x.told) != x.same {
			t.Errorf("%s of a file, %s told: same is %t", x.have, x.told, !x.same)
		}
	}
	if got := lengths([]string{md5 + "00000000", sha, "1a"}); !slices.Equal(got, []string{md5 + "00000000", md5, sha}) {
		t.Errorf("lengths: %q", got)
	}
}

// TestBeforeExec would catch the program that began the recorder's child, which was
// not traced, taken for the one that was. It would also catch the other way round,
// where tracing did not begin at the exec.
func TestBeforeExec(t *testing.T) {
	u := NewSpaces("", nil)
	u.Mapped(10, Mapping{Time: 0, Addr: 0x1000, Len: 0x1000, Path: "/bin/recorder", Exec: true})
	u.Execed(10, 500)
	u.Mapped(10, Mapping{Time: 510, Addr: 0x1000, Len: 0x1000, Path: "/bin/traced", Exec: true})
	u.Forked(11, 10, 100) // has the recorder's code until its own exec
	u.Execed(11, 600)
	u.Seal()
	for _, x := range []struct {
		pid    int32
		onExec bool
		path   string
		sure   bool
	}{{10, true, "/bin/traced", true}, {10, false, "/bin/recorder", false}, {11, true, "/bin/recorder", false}} {
		n, sure := u.Within(x.pid, event.Always, x.onExec)
		m, _ := u.Find(n, 0x1000)
		if m.Path != x.path || sure != x.sure {
			t.Errorf("process %d, tracing begins at an exec %t: %s, sure %t", x.pid, x.onExec, m.Path, sure)
		}
	}
}
