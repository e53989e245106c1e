package bundle

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"github.com/ptdecode/ptdecode/decoder/files"
)

// sample is what Watch sees of a few files: one read here and there, one as a whole, one
// that may not be read, one whose size was asked for.
func sample(t testing.TB) (*Watch, []byte) {
	t.Helper()
	core := make([]byte, 20*pageSize+100)
	for i := range core {
		core[i] = byte(i%251) + 1
	}
	outer := files.Tree{FS: fstest.MapFS{
		"d/core": {Data: core}, "d/perf.data": {Data: []byte("PERFILE2 and more")}, "d/other": {Data: []byte("nobody reads it")},
		"d/unseen": {Data: []byte("secret")},
	}}
	w := NewWatch(outer, func(string) bool { return false })
	tree := files.Tree{FS: w}
	for _, name := range []string{"d/core", "d/perf.data"} {
		f, err := tree.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []struct{ off, n int64 }{{0, 64}, {5*pageSize + 10, 20}, {6*pageSize - 1, 2}, {20*pageSize + 50, 200}} {
			f.ReadAt(make([]byte, at.n), at.off)
		}
	}
	for _, name := range []string{"d/other", "d/none"} {
		tree.Stat(name)
	}
	if _, err := tree.ReadDir("d"); err != nil {
		t.Fatal(err)
	}
	return w, core
}

// pack writes a tree and returns the bytes.
func pack(t testing.TB, tree *Tree) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tree.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTree would catch a bundle that lacks what was read, has what was not, takes what it
// lacks for zeros, or lists files that nobody asked for.
func TestTree(t *testing.T) {
	w, core := sample(t)
	nodes, err := w.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	made := NewTree(json.RawMessage(`{"recording":"d"}`), nodes, 1<<20)
	got, err := Read(bytes.NewReader(pack(t, made)), "b", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range []*Tree{made, got} {
		f, err := files.Tree{FS: tree}.Open("d/core")
		if err != nil {
			t.Fatal(err)
		}
		s, ok := f.(files.Sparse)
		if !ok {
			t.Fatalf("%T is not Sparse", f)
		}
		data, err := s.Whole()
		if err != nil || len(data) != len(core) {
			t.Fatalf("%d bytes of %d, %v", len(data), len(core), err)
		}
		for off := range int64(len(core)) {
			page := off / pageSize
			want := off < 64 || page == 5 || page == 6 || page == 20
			var b [1]byte
			n, _ := f.ReadAt(b[:], off)
			if (n == 1) != want || (s.Held(off, 1) == 1) != want || want && (b[0] != core[off] || data[off] != core[off]) || !want && data[off] != 0 {
				t.Fatalf("byte %#x: read %d, held %d, want %t", off, n, s.Held(off, 1), want)
			}
		}
		if n := s.Held(5*pageSize, 1<<40); n != 2*pageSize {
			t.Errorf("%d bytes held in a row, want %d", n, 2*pageSize)
		}
		list, err := files.Tree{FS: tree}.ReadDir("d/")
		var names []string
		for _, e := range list {
			names = append(names, e.Name())
		}
		if err != nil || strings.Join(names, " ") != "core other perf.data" {
			t.Errorf("folder holds %q, %v", names, err)
		}
		if b, err := (files.Tree{FS: tree}).Read("d/perf.data"); string(b) != "PERFILE2 and more" {
			t.Errorf("read whole: %q %v", b, err)
		}
		if _, err := (files.Tree{FS: tree}).Read("d/core"); err == nil || !strings.Contains(err.Error(), "does not have") {
			t.Errorf("a file with holes read whole: %v", err)
		}
	}
	if string(got.Call) != `{"recording":"d"}` && !strings.Contains(string(got.Call), "recording") {
		t.Errorf("call %s", got.Call)
	}
	if !bytes.Equal(pack(t, made), pack(t, got)) {
		t.Error("the bundle of a bundle is another one")
	}
}

// TestUnpacked would catch a bundle that is not read as somebody unpacked it, and another archive that
// is taken for one.
func TestUnpacked(t *testing.T) {
	list := `{"ptdecode_bundle":1,"call":{},"files":[{"path":"x","size":3,"member":"m"}]}`
	plain := archive(t, list, "m", byte(tar.TypeReg), []byte("abc"))
	tree := files.Tree{FS: fstest.MapFS{
		"plain.tar": {Data: plain}, "packed.zst": {Data: squeeze(t, plain)},
		"other.tar": {Data: plain[512:]}, "short": {Data: plain[:HeadSize-1]}, "name": {Data: plain[:HeadSize]},
	}}
	for name, want := range map[string]bool{"plain.tar": true, "packed.zst": true, "other.tar": false, "short": false, "name": false} {
		if got := Is(tree, name); got != want {
			t.Errorf("%s is a bundle: %v", name, got)
		}
	}
	for n := range plain {
		b, err := Read(bytes.NewReader(plain[:n]), "b", 1<<20)
		if err != nil {
			continue
		}
		if got, err := (files.Tree{FS: b}).Read("x"); string(got) != "abc" || err != nil {
			t.Fatalf("cut to %d bytes of %d: %q, %v", n, len(plain), got, err)
		}
	}
	if _, err := Read(bytes.NewReader(plain), "b", 1<<20); err != nil {
		t.Error(err)
	}
}

// TestRights would catch a file that may not be read told as one that is not there.
func TestRights(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kcore")
	if err := os.WriteFile(path, []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(path); err == nil {
		t.Skip("the user may read every file")
	}
	w := NewWatch(files.Tree{}, func(string) bool { return false })
	files.Tree{FS: w}.Open(path)
	nodes, err := w.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(pack(t, NewTree(json.RawMessage("{}"), nodes, 0))), "b", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (files.Tree{FS: got}).Open(path); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v, want permission", err)
	}
}

// archive makes a bundle by hand: the list, then members of (name, type, bytes).
func archive(t testing.TB, list string, members ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	add := func(name string, typ byte, data []byte) {
		h := &tar.Header{Typeflag: typ, Name: name, Mode: 0o644, Size: int64(len(data))}
		if typ == tar.TypeSymlink {
			h.Linkname, h.Size, data = "/etc/passwd", 0, nil
		}
		if err := out.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	add(listName, tar.TypeReg, []byte(list))
	for i := 0; i < len(members); i += 3 {
		add(members[i].(string), members[i+1].(byte), members[i+2].([]byte))
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// squeeze packs by zstd.
func squeeze(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll(data, nil)
}

// TestHostile would catch a bundle that leads to files of this machine, lies about sizes,
// or takes more memory than it may.
func TestHostile(t *testing.T) {
	reg, link := byte(tar.TypeReg), byte(tar.TypeSymlink)
	one := func(e string) string { return `{"ptdecode_bundle":1,"call":{},"files":[` + e + `]}` }
	big := make([]byte, 1<<20)
	for _, x := range []struct {
		name, list, want string
		members          []any
	}{
		{"a link", one(`{"path":"x","size":3,"member":"m"}`), "type", []any{"m", link, []byte(nil)}},
		{"another size", one(`{"path":"x","size":3,"member":"m"}`), "4 bytes, the list says a file of 3", []any{"m", reg, []byte("abcd")}},
		{"no member", one(`{"path":"x","size":3,"member":"m"}`), "not there", nil},
		{"one member of two", one(`{"path":"x","size":3,"member":"m"},{"path":"y","size":3,"member":"m"}`), "twice", []any{"m", reg, []byte("abc")}},
		{"one path of two", one(`{"path":"x"},{"path":"x"}`), "twice", nil},
		{"a size below 0", one(`{"path":"x","size":-1}`), "size -1", nil},
		{"a path that is none", one(`{"path":"a/../b"}`), "no plain path", nil},
		{"folders without end", one(`{"path":"` + strings.Repeat("/a", 2000) + `"}`), "more than 64 folders", nil},
		{"a stretch outside", one(`{"path":"x","size":10,"member":"m","held":[[8,3]]}`), "stretch", nil},
		{"a stretch that wraps", one(`{"path":"x","size":10,"member":"m","held":[[9223372036854775807,3]]}`), "stretch", nil},
		{"stretches over each other", one(`{"path":"x","size":10,"member":"m","held":[[0,4],[3,4]]}`), "stretch", nil},
		{"a folder with bytes", one(`{"path":"x","dir":true,"size":3,"member":"m"}`), "cannot have", nil},
		{"too much", one(`{"path":"x","size":1048576,"member":"m"}`), "--memory", []any{"m", reg, big}},
		{"too much in sum", one(`{"path":"x","size":700000,"member":"m"},{"path":"y","size":700000,"member":"n"}`), "--memory", nil},
		{"another format", `{"ptdecode_bundle":9}`, "format 9", nil},
		{"no JSON", `{"ptdecode_bundle":`, "unexpected end", nil},
		{"wrong types", `{"ptdecode_bundle":1,"files":[{"path":5}]}`, "cannot unmarshal", nil},
	} {
		_, err := Read(bytes.NewReader(squeeze(t, archive(t, x.list, x.members...))), "b", 1<<20)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.name, err, x.want)
		}
	}
	whole := squeeze(t, archive(t, one(`{"path":"x","size":3,"member":"m"}`), "m", reg, []byte("abc")))
	for n := range whole {
		if _, err := Read(bytes.NewReader(whole[:n]), "b", 1<<20); err == nil && n < len(whole)-16 {
			t.Errorf("%d of %d bytes are read as a bundle", n, len(whole))
		}
	}
}

// TestNowhere would catch names in a bundle that reach files of this machine, and a size
// that is only claimed taking memory.
func TestNowhere(t *testing.T) {
	list := `{"ptdecode_bundle":1,"call":{},"files":[{"path":"../../../../../../etc","dir":true},{"path":"/proc","dir":true},{"path":"x","size":4611686018427387904,"held":[]}]}`
	tree, err := Read(bytes.NewReader(squeeze(t, archive(t, list))), "b", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	in := files.Tree{FS: tree}
	for _, name := range []string{"/etc/passwd", "../../../../../../etc/passwd", "/proc/self/status", "etc/passwd", "/"} {
		if b, err := in.Read(name); err == nil {
			t.Errorf("%s: %d bytes", name, len(b))
		}
	}
	if _, err := in.Read("x"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("2^62 bytes: %v", err)
	}
}

// zeros is a reader of n zeros.
type zeros struct{ n int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.n <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.n)
	clear(p[:n])
	z.n -= n
	return int(n), nil
}

// TestBomb would catch a small file that unpacks to more than it may take.
func TestBomb(t *testing.T) {
	const size = 64 << 20
	for _, list := range []string{`{"path":"x","size":%d,"member":"m"}`, `{"path":"%d"}`} {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b, zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			t.Fatal(err)
		}
		out := tar.NewWriter(z)
		text := `{"ptdecode_bundle":1,"call":{},"files":[` + fmt.Sprintf(list, size) + `]}`
		out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: listName, Size: int64(len(text))})
		io.WriteString(out, text)
		out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "m", Size: size})
		io.Copy(out, &zeros{size})
		out.Close()
		z.Close()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = Read(&b, "b", 1<<20)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v, want ErrTooLarge", list, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 24<<20 {
			t.Errorf("%s: %d bytes were allocated", list, n)
		}
	}
}

// FuzzBundle would catch a panic or a hang in reading an archive. It would also catch
// bytes out of a place that the list does not say, and a tree that does not write back.
func FuzzBundle(f *testing.F) {
	f.Add(`{"ptdecode_bundle":1,"call":{},"files":[{"path":"x","size":9,"member":"m","held":[[1,2],[4,1]]},{"path":"a/b","size":7}]}`, []byte("abc"), 0, byte(0))
	f.Add(`{"ptdecode_bundle":1,"call":{"recording":"d"},"files":[{"path":"/d/x","size":5,"member":"m"},{"path":"/d","dir":true},{"path":"y","fault":"permission"}]}`, []byte("01234"), 700, byte(1))
	f.Add(`{"ptdecode_bundle":1,"files":[{"path":"../x","size":4611686018427387904,"held":[]},{"path":"z","size":1000000,"held":[[4096,4],[999996,4]],"member":"m"}]}`, []byte("01234567"), 0, byte(0))
	f.Fuzz(func(t *testing.T, list string, member []byte, at int, with byte) {
		data := archive(t, list, "m", byte(tar.TypeReg), member, "n", byte(tar.TypeReg), member[:len(member)/2])
		if at >= 0 && at < len(data) {
			data[at] ^= with
		}
		const limit = 1 << 20
		tree, err := readArchive(bytes.NewReader(data), limit)
		if err != nil {
			return
		}
		if n := tree.Bytes(); n > limit {
			t.Fatalf("%d bytes are held, at most %d", n, limit)
		}
		for _, n := range tree.Nodes() {
			in := files.Tree{FS: tree}
			if n.Dir {
				in.ReadDir(n.Path)
			}
			file, err := in.Open(n.Path)
			if err != nil {
				continue
			}
			var b [300]byte
			for _, off := range []int64{-1, 0, 1, n.Size / 2, n.Size - 1, n.Size, 1<<63 - 1} {
				k, err := file.ReadAt(b[:], off)
				if k < len(b) && err == nil {
					t.Fatalf("%s at %d: %d bytes and no error", n.Path, off, k)
				}
				if s, ok := file.(files.Sparse); ok && off >= 0 && s.Held(off, int64(len(b))) != int64(k) {
					t.Fatalf("%s at %d: %d bytes, %d held", n.Path, off, k, s.Held(off, int64(len(b))))
				}
			}
			if got, err := in.Read(n.Path); err == nil && int64(len(got)) != n.Size && !n.Dir && files.Packing(got) == "" {
				head := make([]byte, 4)
				if k, _ := file.ReadAt(head, 0); files.Packing(head[:k]) == "" {
					t.Fatalf("%s: %d bytes of %d", n.Path, len(got), n.Size)
				}
			}
		}
		var out bytes.Buffer
		if err := tree.Write(&out); err != nil {
			return // a call that is no JSON
		}
		again, err := Read(&out, "again", 2*limit)
		if err != nil {
			t.Fatalf("what was written: %v", err)
		}
		if a, b := tree.Bytes(), again.Bytes(); a != b {
			t.Fatalf("%d bytes, written %d", a, b)
		}
	})
}

// TestBlank would catch bytes that are left of a part that goes out, others that go with it,
// and pages of zeros that could be gone.
func TestBlank(t *testing.T) {
	data := bytes.Repeat([]byte{7}, 6*pageSize)
	parts := []Span{{100, 50}, {pageSize + 10, 3 * pageSize}, {6*pageSize - 5, 5}}
	in := func(off int64) bool {
		return slices.ContainsFunc(parts, func(s Span) bool { return off >= s.Off && off < s.Off+s.Len })
	}
	for _, held := range [][]Span{nil, {{0, 6 * pageSize}}, {{0, 160}, {2 * pageSize, pageSize}, {5 * pageSize, pageSize}}} {
		was := Node{Size: int64(len(data)), Held: held, src: bytes.NewReader(data)}
		n, sum := was, int64(0)
		n.Blank(parts)
		for off := range n.Size {
			had, has := was.has(off, 1), n.has(off, 1)
			if in(off) {
				sum += had
			}
			gone := held != nil && (off/pageSize == 2 || off/pageSize == 3)
			if gone {
				had = 0
			}
			var b [1]byte
			if n.ReadAt(b[:], off); has != had || has == 1 && (b[0] == 0) != in(off) {
				t.Fatalf("%v: byte %#x: held %d, want %d; it is %d", held, off, has, had, b[0])
			}
		}
		if got := was.HeldIn(parts); got != sum {
			t.Errorf("%v: %d bytes of the parts, want %d", held, got, sum)
		}
	}
}
