package stream

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/pt"
)

// TestSpan would catch a stream that is said to begin or end elsewhere than at the first and the
// last time that its trace states. A trace of one segment ended at its sync point.
func TestSpan(t *testing.T) {
	for text, want := range map[string]event.Time{
		"psb\ntsc 0x64\npsbend\ntip.pge 6: 0x1000\ntsc 0xc8\ntnt t\ntip.pgd\n":                         {Lo: 100, Hi: 200},
		"psb\ntsc 0x64\npsbend\ntip.pge 6: 0x1000\ntip.pgd\npsb\ntsc 0xc8\npsbend\n":                   {Lo: 100, Hi: 200},
		"psb\npsbend\ntip.pge 6: 0x1000\ntip.pgd\npsb\ntsc 0xc8\npsbend\ntip.pge 6: 0x1000\ntip.pgd\n": {Lo: 200, Hi: 200},
		"psb\npsbend\ntip.pge 6: 0x1000\ntip.pgd\n":                                                    event.Always,
	} {
		b, err := pt.Assemble(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		st := &Stream{Protocol: IntelPT, Unit: &pt.Config{}, Size: int64(len(b)), Data: Memory(b)}
		st.Begin(0, defaultHold)
		if got := st.Time(); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
