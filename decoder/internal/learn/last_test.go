package learn

import (
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/kcore"
)

// TestLast would catch a site that is told twice where it was learned again, with what was learned first as the code
// that it had. It would also catch code that is told as learned though images and records have it.
func TestLast(t *testing.T) {
	l := func(addr uint64, code, had string) kcore.Learned {
		return kcore.Learned{Addr: addr, Code: []byte(code), Had: []byte(had)}
	}
	changed := l(5, "bb", "")
	changed.Was = []byte("aa")
	open := l(7, "cc", "cc")
	open.Others = [][]byte{[]byte("dd")}
	list := []kcore.Learned{l(1, "ab", "aa"), l(1, "ac", "ab"), l(2, "ab", "aa"), l(2, "aa", "ab"), l(3, "x", "y"), l(3, "xx", "yy"), l(5, "aa", "cc"), changed, open}
	want := []kcore.Learned{l(1, "ac", "aa"), l(3, "x", "y"), l(3, "xx", "yy"), l(5, "aa", "cc"), changed, open}
	if got := Last(list); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if string(list[1].Had) != "ab" {
		t.Error("what was given changed")
	}
}
