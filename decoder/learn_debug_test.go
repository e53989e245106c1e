package decoder

import (
	"context"
	"os"
	"testing"
)

func TestLearnDebug(t *testing.T) {
	c := Config{Recording: os.Getenv("REC"), Kcore: os.Getenv("KC"), Late: os.Getenv("LATE")}
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Flow(context.Background(), Query{}, nothing{}); err != nil {
		t.Fatal(err)
	}
	for _, w := range s.Warnings() {
		t.Log(w.What)
	}
	t.Logf("tries %d passes %d", s.learned.tries, s.learned.whole)
	for _, l := range s.code.Load().learned {
		t.Logf("%+v", l)
	}
}
