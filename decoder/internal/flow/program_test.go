package flow

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/pt"
)

// program is a real program's trace, and the code that it ran.
type program struct {
	pt.Config
	trace []byte
	text  plainText
}

// openProgram opens the recording of a user program, by its name.
func openProgram(t *testing.T, name string) *program {
	t.Helper()
	dir := filepath.Join(testsize.Recordings(t), "pt-user", name)
	trace, err := os.ReadFile(filepath.Join(dir, "cpu0.pt"))
	if err != nil {
		t.Fatal(err)
	}
	img, err := image.Open(filepath.Join(dir, "text.core"), image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	j, err := kcore.NewJournal(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{trace: trace, text: plainText{kcore.NewText(j, img, kcore.TextOptions{})}}
	if p.Model, err = pt.ParseModel("6/94"); err != nil {
		t.Fatal(err)
	}
	return p
}

// segments returns the segments of the trace as it is now.
func (p *program) segments() []event.Segment {
	segs, _ := pt.Segments(p.trace, 0, p.Config)
	return segs
}

// plainText is a kcore.Text as a flow.Text, without pokes.
type plainText struct{ *kcore.Text }

func (p plainText) Fetch(dst []byte, _ uint32, addr uint64, at event.Epoch) (int, event.Span) {
	return p.Text.Fetch(dst, addr, at)
}

func (p plainText) Edges(lo, hi event.Epoch) (uint64, uint64) { return p.Journal().Edges(lo, hi) }

func (p plainText) Between(dst []int, addr uint64, n int, lo, hi event.Epoch) []int { return dst }

func (p plainText) Poke(int) Poke { panic("flow: there are no pokes") }
