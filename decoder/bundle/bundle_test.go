package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/pt"
)

// said is all that verbs say of a recording: digests of the flow, pokes with how they were
// crossed, traps, and what check finds. Words that are paths differ in a bundle without
// names.
func said(t testing.TB, c decoder.Config, q decoder.Query) string {
	t.Helper()
	s, err := decoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b strings.Builder
	ctx := t.Context()
	sums := map[int]io.Writer{}
	n := 0
	for r, err := range s.Ranges(ctx, q) {
		h := sums[r.Stream.Index]
		if h == nil {
			h = sha256.New()
			sums[r.Stream.Index] = h
		}
		fmt.Fprintln(h, r.Addr, r.End, r.Instructions, r.Verdict, r.Symbol(), err)
		n += r.Instructions
	}
	for i := range s.Streams() {
		if h, ok := sums[i].(interface{ Sum([]byte) []byte }); ok {
			fmt.Fprintf(&b, "stream %d %x\n", i, h.Sum(nil))
		}
	}
	fmt.Fprintf(&b, "%d instructions\n", n)
	crossings, gaps, err := (&report.Crossings{Session: s}).Decode(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	for k := range s.Pokes() {
		old, _ := report.Insn(s, append(bytes.Clone(k.Old), make([]byte, 15)...), k.Addr, k.Time)
		fmt.Fprintln(&b, "poke", k.Index, k.Time, k.Addr, k.Symbol, k.Kind, k.Scheme, fmt.Sprintf("%x %x", k.Old, k.New), k.Broken != nil, old, crossings[k.Index])
	}
	traps, _, err := report.Traps(ctx, s, q)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, traps, gaps)
	if q.From == 0 {
		if _, err := report.Check(ctx, s, q, func(f *report.Finding) error {
			fmt.Fprintln(&b, f.Kind, f.Addr, f.Symbol, f.Time, f.What)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// made makes a bundle of what c names and returns its bytes.
func made(t testing.TB, c decoder.Config, o Options) []byte {
	t.Helper()
	b, err := Make(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var w bytes.Buffer
	if err := b.Write(&w, []byte("info")); err != nil {
		t.Fatal(err)
	}
	return w.Bytes()
}

// in names a bundle that lies nowhere else: no file of this machine can help out.
func in(data []byte) decoder.Config {
	return decoder.Config{FS: fstest.MapFS{"b.tar.zst": {Data: data}}, Recording: "b.tar.zst"}
}

// demo is the embedded recording of the command: raw parts.
func demo() decoder.Config {
	const dir = "../../cmd/ptdecode/demo/"
	c := decoder.Config{Kcore: dir + "kcore", Kallsyms: dir + "kallsyms", Events: dir + "events.jsonl"}
	for cpu := range int32(2) {
		c.Raw = append(c.Raw, decoder.RawTrace{Protocol: decoder.IntelPT, CPU: cpu, Path: fmt.Sprintf("%scpu%d.pt", dir, cpu)})
	}
	return c
}

// recordings are calls for recordings with known truth, by name. all has those that take
// longer.
func recordings(t testing.TB, all bool) map[string]decoder.Config {
	root := testsize.Recordings(t)
	arm := filepath.Join(root, "kernel-pokes-arm64")
	m := map[string]decoder.Config{
		"kprobes": {Recording: filepath.Join(root, "kernel-pokes-x86/kprobes/perf.data")},
		"phone":   {Recording: filepath.Join(root, "real-arm/perf_etm.data"), SymFS: filepath.Join(root, "real-arm/sym")},
		"user":    {Raw: []decoder.RawTrace{{Protocol: decoder.IntelPT, Path: filepath.Join(root, "pt-user/icelake_tip/cpu0.pt")}}, Kcore: filepath.Join(root, "pt-user/icelake_tip/text.core"), Model: pt.Model{Family: 6, Model: 94}},
		"TC2":     {Recording: filepath.Join(root, "coresight/snapshots/TC2"), AllBuffers: true},
	}
	if all {
		m["samples"] = decoder.Config{Recording: filepath.Join(arm, "perf/hwbp.data"), Kallsyms: filepath.Join(arm, "text/a57.kallsyms"),
			Code: []decoder.CodeFile{{Path: filepath.Join(arm, "text/a57-perf.bin"), Addr: 0xffff800080010000}}}
		m["coarse"] = decoder.Config{Recording: filepath.Join(root, "kernel-pokes-x86/tracepoints-coarse/perf.data")}
	}
	if os.Getenv("PTDECODE_FULL") == "all" {
		for _, dir := range []string{"kernel-pokes-x86/ftrace/perf.data", "kernel-pokes-x86/journal/perf.data", "kernel-pokes-x86/nomitig-late/perf.data", "kernel-pokes-x86/tracepoints/perf.data"} {
			m[dir] = decoder.Config{Recording: filepath.Join(root, dir)}
		}
		list, err := filepath.Glob(filepath.Join(root, "coresight/snapshots/*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range list {
			m[filepath.Base(dir)] = decoder.Config{Recording: dir, AllBuffers: true}
		}
		for _, name := range []string{"unzip", "foo", "mruby", "qemu", "avscript_32", "dyn_test"} {
			dir := filepath.Join(root, "pt-user", name)
			m[name] = decoder.Config{Raw: []decoder.RawTrace{{Protocol: decoder.IntelPT, Path: filepath.Join(dir, "cpu0.pt")}}, Kcore: filepath.Join(dir, "text.core"), Model: pt.Model{Family: 6, Model: 94}}
		}
	}
	return m
}

// TestDemo would catch a bundle of raw parts that lacks one, or a flag.
func TestDemo(t *testing.T) {
	want := said(t, demo(), decoder.Query{})
	if got := said(t, in(made(t, demo(), Options{})), decoder.Query{}); got != want {
		t.Errorf("the bundle says\n%s\nthe parts\n%s", got, want)
	}
	if !strings.Contains(want, "text_poke_bp") && !strings.Contains(want, "poke 0") {
		t.Errorf("nothing was compared:\n%s", want)
	}
}

// TestRecordings would catch a page, a symbol or a record that decoding needs and that is
// not in the bundle. The bundle of a bundle is the same.
func TestRecordings(t *testing.T) {
	for name, c := range recordings(t, testsize.Full(t)) {
		data := made(t, c, Options{})
		if len(data) > 4<<20 {
			t.Errorf("%s: %d bytes", name, len(data))
		}
		if got, want := said(t, in(data), decoder.Query{}), said(t, c, decoder.Query{}); got != want {
			t.Errorf("%s: the bundle says %s", name, difference(got, want))
		}
		if name == "phone" && !bytes.Equal(made(t, in(data), Options{}), data) {
			t.Errorf("%s: the bundle of the bundle is another one", name)
		}
	}
}

// difference returns the first line in which two texts differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("%.300q, want %.300q", a[i], b[min(i, len(b)-1)])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// TestTime would catch a cut that loses trace of the time asked for, or takes a verdict
// from it, or that cuts nothing.
func TestTime(t *testing.T) {
	testsize.OnlyFull(t)
	c := recordings(t, false)["kprobes"]
	const from, until = 4_420_000_000, 4_420_200_000
	whole, part := made(t, c, Options{}), made(t, c, Options{From: from, Until: until})
	q := decoder.Query{From: from, Until: until}
	got, want := said(t, in(part), q), said(t, c, q)
	if got != want {
		t.Errorf("the bundle says %s", difference(got, want))
	}
	if len(part) > len(whole)*95/100 {
		t.Errorf("%d bytes, the whole has %d", len(part), len(whole))
	}
	s, err := decoder.Open(in(part))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := report.Check(t.Context(), s, decoder.Query{}, func(f *report.Finding) error {
		t.Errorf("check of the cut one: %s", f.What)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(t.Context(), c, Options{From: 1, Until: 2}); err == nil {
		t.Error("a time without trace is no error")
	}
}

// unpacked returns what a bundle unpacks to.
func unpacked(t testing.TB, data []byte) []byte {
	t.Helper()
	b, err := files.Unpack(bytes.NewReader(data), "bundle", 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAnonymise would catch a name of a program, a host, a path or an argument that is
// left in a bundle, and one whose replacement changes what is decoded.
func TestAnonymise(t *testing.T) {
	list := map[string]decoder.Config{"demo": demo()}
	if os.Getenv("PTDECODE_DATA") != "" {
		all := recordings(t, os.Getenv("PTDECODE_FULL") == "all")
		if !testsize.Full(t) {
			delete(all, "kprobes")
		}
		maps.Copy(list, all)
	}
	paths := regexp.MustCompile(`\S*(perf\.data|perf_etm|cstrace|hwbp|recording)\S*`)
	for name, c := range list {
		data := made(t, c, Options{Anonymise: true})
		got, want := said(t, in(data), decoder.Query{}), said(t, c, decoder.Query{})
		if got, want = paths.ReplaceAllString(got, "FILE"), paths.ReplaceAllString(want, "FILE"); name != "phone" && got != want {
			t.Errorf("%s: the bundle says %s", name, difference(got, want))
		}
		whole := unpacked(t, data)
		secrets := secretsOf(t, c)
		if secrets = append(secrets, c.Recording, c.Kcore, c.SymFS); len(secrets) < 3 {
			t.Fatalf("%s: nothing to look for", name)
		}
		for _, x := range secrets {
			if len(x) > 4 && bytes.Contains(whole, []byte(x)) {
				t.Errorf("%s: %q is left", name, x)
			}
		}
	}
}

// secretsOf returns the names that the records of c tell: whole paths, host and command
// line, and names of threads that no symbol of the kernel's has in it.
func secretsOf(t testing.TB, c decoder.Config) (list []string) {
	t.Helper()
	var b bytes.Buffer
	if _, err := decoder.WriteEvents(c, &b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		var e struct {
			File, Comm, Path any
			Meta             map[string]any
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		for _, v := range []any{e.File, e.Path, e.Meta["host"], e.Meta["command"]} {
			if s, ok := v.(string); ok && !strings.HasPrefix(s, "[") && s != "//anon" {
				list = append(list, s)
			}
		}
		if s, ok := e.Comm.(string); ok && strings.ContainsAny(s, "/:-") {
			list = append(list, s)
		}
	}
	return list
}

// FuzzOpen would catch a panic in opening and decoding a bundle whose list, call or files
// are not what they should be.
func FuzzOpen(f *testing.F) {
	for _, o := range []Options{{}, {Anonymise: true}} {
		b, err := Make(f.Context(), demo(), o)
		if err != nil {
			f.Fatal(err)
		}
		var w bytes.Buffer
		if err := b.Write(&w, nil); err != nil {
			f.Fatal(err)
		}
		b.Close()
		f.Add(unpacked(f, w.Bytes()), 0, []byte("recording"))
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, archive []byte, at int, with []byte) {
		if at > 0 && at < len(archive) {
			archive = bytes.Clone(archive)
			copy(archive[at:], with)
		}
		c := in(z.EncodeAll(archive, nil))
		c.NoLearn = true
		s, err := decoder.Open(c)
		if err != nil {
			return
		}
		defer s.Close()
		if err := s.Flow(t.Context(), decoder.Query{Jobs: 1}, nobody{}); err != nil {
			t.Fatal(err)
		}
	})
}

// nobody is a sink that drops what it is given.
type nobody struct{}

func (nobody) Flow(*decoder.Batch) error { return nil }
