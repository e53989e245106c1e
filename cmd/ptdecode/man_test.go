package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/manual"
)

// theRoot returns the tree of verbs.
func theRoot() *cobra.Command {
	return newRoot(&app{ui: newUI(&bytes.Buffer{}, &bytes.Buffer{})})
}

// TestDocsAreFresh would catch a flag or a text that was changed and not
// written to docs/cli.md and the manual pages (go generate does).
func TestDocsAreFresh(t *testing.T) {
	want := pages(theRoot())
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("docs/%s is not what the code says (%v): run go generate ./cmd/ptdecode", name, err)
		}
	}
	for _, dir := range []string{"man/", "formats/json-schema/"} {
		there, err := filepath.Glob("../../docs/" + dir + "*")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range there {
			if want[dir+filepath.Base(p)] == nil {
				t.Errorf("%s is the page of no verb, or the schema of no object", p)
			}
		}
	}
}

// TestHelpTeaches would catch a verb without an example, an example that calls
// a verb or names a flag that is not there, and a flag without a word of help.
func TestHelpTeaches(t *testing.T) {
	root := theRoot()
	for _, c := range append([]*cobra.Command{root}, manual.Verbs(root)...) {
		if c.Example == "" {
			t.Errorf("%s: no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			checkExample(t, root, c, line)
		}
		manual.Flags(c).VisitAll(func(f *pflag.Flag) {
			if len(strings.Fields(f.Usage)) < 2 {
				t.Errorf("%s --%s: %q says nothing", c.CommandPath(), f.Name, f.Usage)
			}
		})
	}
}

// TestHelpFits would catch a line of help that is wider than 80 columns, such as an example. It would also catch
// a flag that stands there twice.
func TestHelpFits(t *testing.T) {
	root := theRoot()
	for _, c := range append(root.Commands(), root) {
		var out bytes.Buffer
		a := &app{out: &out, ui: newUI(&out, &out)}
		if code := a.execute(t.Context(), append(strings.Fields(c.CommandPath())[1:], "--help")); code != 0 || out.Len() == 0 {
			t.Errorf("%s --help: exit code %d, %d bytes", c.CommandPath(), code, out.Len())
		}
		flags, in := map[string]int{}, false
		for line := range strings.Lines(out.String()) {
			in = in || line == "Flags:\n"
			if name := strings.TrimLeft(line, " "); in && strings.HasPrefix(line, "      --") {
				flags[strings.Fields(name)[0]]++
			}
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s --help: %d columns: %s", c.CommandPath(), n, line)
			}
		}
		for name, n := range flags {
			if n > 1 {
				t.Errorf("%s --help: %s stands there %d times", c.CommandPath(), name, n)
			}
		}
	}
}

// checkExample checks the calls of ptdecode in one line of an example.
func checkExample(t *testing.T, root, c *cobra.Command, line string) {
	line, _, _ = strings.Cut(line, " #")
	for _, call := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("|()<>;&", r) }) {
		w := strings.Fields(call)
		if len(w) < 2 || w[0] != "ptdecode" {
			continue
		}
		verb, args, err := root.Find(w[1:])
		if err != nil || verb == root && !strings.HasPrefix(w[1], "-") {
			t.Errorf("%s: example %q: no such verb", c.CommandPath(), strings.TrimSpace(line))
			continue
		}
		if err := verb.ParseFlags(args); err != nil {
			t.Errorf("%s: example %q: %v", c.CommandPath(), strings.TrimSpace(line), err)
		}
	}
}

// TestInterrupted would catch Ctrl-C that ends with another code, or in words.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	file := filepath.Join(dir, "cpu0.pt")
	if err := os.WriteFile(file, []byte(strings.Repeat("\x02\x82", 8)+"\x02\x23"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"flow", "packets"} {
		var out, errs bytes.Buffer
		a := &app{out: &out, ui: newUI(&out, &errs)}
		if code := a.execute(ctx, []string{verb, "--pt", file}); code != exitInterrupted || errs.Len() != 0 {
			t.Errorf("%s: exit code %d, want %d; said %q", verb, code, exitInterrupted, errs.String())
		}
	}
}

// TestVerbAlone would catch a verb under another name in the table than it has, and one whose
// help or flags are others where it is made without the rest.
func TestVerbAlone(t *testing.T) {
	whole := theRoot()
	for i, v := range verbs() {
		if v.all() {
			continue
		}
		root := newRoot(&app{ui: newUI(&bytes.Buffer{}, &bytes.Buffer{})}, v.name)
		if n := len(root.Commands()); n != 1 {
			t.Fatalf("%s: %d verbs were made", v.name, n)
		}
		c, _, err := whole.Find([]string{v.name})
		if err != nil || c == whole {
			t.Fatalf("verb %d: %q is not its name (%v)", i, v.name, err)
		}
		if got, want := manual.Usage(root.Commands()[0], 80), manual.Usage(c, 80); got != want {
			t.Errorf("%s alone is another:\n%s\nnot\n%s", v.name, got, want)
		}
	}
}
