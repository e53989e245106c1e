package manual

import (
	"testing"

	"github.com/spf13/pflag"
)

// TestWrapped would catch columns that run into each other, items that are joined, and lines
// that stay broken where they were before.
func TestWrapped(t *testing.T) {
	const text = `One paragraph that is
broken somewhere.

Fields:
  time     when, as seconds
  cpu      the CPU, as a number, or what
           the trace calls it
  - an item: goes
    on
  ptdecode flow REC
    inner  deep`
	const want = `One paragraph that is broken
somewhere.

Fields:
  time     when, as seconds
  cpu      the CPU, as a number,
           or what the trace
           calls it
  - an item: goes on
  ptdecode flow REC
    inner  deep`
	if got := Wrapped(text, 32); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Wrapped(want, 32); got != want {
		t.Errorf("what was wrapped is wrapped anew:\n%s", got)
	}
}

// TestFlagUsages would catch a flag that runs into what it does, and a default that says nothing.
func TestFlagUsages(t *testing.T) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringP("output", "o", "text", "lines or objects: `text|jsonl`")
	f.Int("poke", -1, "the change `N`")
	f.String("a-very-long-name", "", "take `SOMETHING` that is long enough for two lines")
	f.Bool("hidden", false, "no")
	f.Bool("plain", false, "say it plainly")
	if err := f.MarkHidden("hidden"); err != nil {
		t.Fatal(err)
	}
	const want = `      --a-very-long-name SOMETHING
                          take SOMETHING that is long enough
                          for two lines
  -o, --output text|jsonl
                          lines or objects: text|jsonl
                          (default "text")
      --plain             say it plainly
      --poke N            the change N
`
	if got := FlagUsages(f, 60); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
