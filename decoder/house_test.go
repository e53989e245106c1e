package decoder_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// The rules of the house (docs/architecture.md), each as a function from the
// tree's files to what breaks the rule. They read source, not the build: so
// files for other systems than this one are held to them too.

const modulePath = "github.com/ptdecode/ptdecode"

// house is what the rules look at.
type house struct {
	fsys  fs.FS
	fset  *token.FileSet
	files []goFile
	dirs  []string // folders with Go files in them, sorted

	longFuncs map[string]string // the exceptions to the length of functions, with reasons

	// Budgets of the rules of structure: the lines of a package, the methods of a
	// type, the public names of all packages.
	packageLines, typeMethods map[string]int
	publicNames               int
}

type goFile struct {
	name, dir       string // relative to the root; dir "." is the root
	src             []byte
	ast             *ast.File
	test, generated bool
}

// rule is one rule. find returns what breaks it, one line for each case. What does
// stands in testdata/house; breaks has the trees that take counting. budgets
// are for a rule that the tree does not keep yet: how many cases each package
// may still have. They only ever fall.
type rule struct {
	name    string
	find    func(*house) []string
	breaks  []broken
	budgets map[string]int
}

// broken is a tree, or a part of one, that breaks a rule: want must be in what
// the rule then finds. So no rule can go blind unnoticed.
type broken struct {
	catches string // for people
	tree    map[string]string
	want    string
	long    map[string]string // longFuncs in this tree
}

var rules = []rule{
	{"layout", findLayout, nil, nil},
	{"names", findNames, nil, nil},
	{"gofmt", findFormat, nil, nil},
	{"floors", findFloors, nil, nil},
	{"modules", findModules, nil, nil},
	{"file length", findFileLength, []broken{{
		catches: "a file that has outgrown one reading",
		tree:    map[string]string{"pt/a.go": "package pt\n" + strings.Repeat("\n", maxFileLines)},
		want:    "pt/a.go: 601 lines, at most 600",
	}}, nil},
	{"function length", findFuncLength, []broken{{
		catches: "a function that should be two",
		tree:    map[string]string{"pt/a.go": "package pt\nfunc (*t[K]) f() {" + strings.Repeat("\n", maxFuncLines) + "}\n"},
		want:    "pt.(*t).f: 61 lines, at most 60",
	}, {
		catches: "an exception to the limit whose function is gone or short by now",
		tree:    map[string]string{"pt/a.go": "package pt\nfunc f() {}\n"},
		want:    "pt.f is not over 60 lines any more",
		long:    map[string]string{"pt.f": "a switch"},
	}}, nil},
	{"docs", findDocs, nil, nil},
	{"units", findUnits, nil, nil},
	{"sources", findSources, nil, nil},
	{"init", findInit, nil, nil},
	{"architecture", findArchitecture, nil, nil},
	{"where", findWhere, nil, nil},
	{"links", findLinks, nil, nil},
	sentenceRule,
}

// TestHouse holds the tree to its rules, and each rule to its purpose.
func TestHouse(t *testing.T) {
	here := readHouse(t, os.DirFS(".."))
	here.longFuncs, here.packageLines, here.typeMethods, here.publicNames = longFuncs, packageLines, typeMethods, publicBudget
	if len(here.files) < 5 {
		t.Fatalf("found %d Go files: this is not the tree", len(here.files))
	}
	for _, r := range append(slices.Clip(rules), structureRules...) {
		t.Run(r.name, func(t *testing.T) {
			for _, b := range r.broken(t) {
				tree := fstest.MapFS{}
				for name, text := range b.tree {
					tree[name] = &fstest.MapFile{Data: []byte(text)}
				}
				h := readHouse(t, tree)
				h.longFuncs = b.long
				if found := r.find(h); !strings.Contains(strings.Join(found, "\n"), b.want) {
					t.Errorf("the rule is blind to %s: it finds %q, want %q", b.catches, found, b.want)
				}
			}
			r.judge(t, r.find(here))
		})
	}
	t.Logf("%d Go files in %d packages", len(here.files), len(here.dirs))
}

// broken returns the trees that break the rule: those of its archive in
// testdata/house, and its own. In the archive a file "breaks: NAME" begins a tree,
// and holds what the rule must find there.
func (r rule) broken(t *testing.T) []broken {
	t.Helper()
	all := slices.Clip(r.breaks)
	a, err := txtar.ParseFile("testdata/house/" + strings.ReplaceAll(r.name, " ", "-") + ".txtar")
	if err != nil && len(all) > 0 {
		return all
	} else if err != nil {
		t.Fatalf("nothing shows that the rule sees anything: %v", err)
	}
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, "breaks: "); ok {
			all = append(all, broken{catches: name, tree: map[string]string{}, want: strings.TrimSpace(string(f.Data))})
			continue
		}
		all[len(all)-1].tree[f.Name] = string(f.Data)
	}
	return all
}

// judge fails for what was found, but for what the budgets allow.
func (r rule) judge(t *testing.T, found []string) {
	byDir := byFolder(found)
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		cases, budget := byDir[dir], r.budgets[dir]
		if len(cases) <= budget {
			continue
		}
		if budget > 0 {
			t.Errorf("%s: %d cases, at most %d:", dir, len(cases), budget)
		}
		for _, c := range cases {
			t.Error(c)
		}
	}
}

// byFolder sorts what rules found by the folder that it is in.
func byFolder(found []string) map[string][]string {
	byDir := map[string][]string{}
	for _, f := range found {
		dir, _, _ := strings.Cut(f, ":")
		if path.Ext(dir) != "" {
			dir = path.Dir(dir)
		}
		byDir[dir] = append(byDir[dir], f)
	}
	return byDir
}

// TestBudgets lists, with -v and -run, what the rules with budgets find without them, and
// the budgets of folders as they would have to be now.
func TestBudgets(t *testing.T) {
	if !testing.Verbose() || flag.Lookup("test.run").Value.String() == "" {
		t.Skip("a list, for go test -v -run TestBudgets")
	}
	here := readHouse(t, os.DirFS(".."))
	for _, r := range append([]rule{sentenceRule}, structureRules...) {
		t.Run(r.name, func(t *testing.T) {
			found := r.find(here)
			for _, f := range found {
				t.Log(f)
			}
			if r.budgets == nil { // its findings hold the numbers
				return
			}
			byDir := byFolder(found)
			for _, dir := range slices.Sorted(maps.Keys(byDir)) {
				t.Logf("\t%q: %d,", dir, len(byDir[dir]))
			}
		})
	}
}

// readHouse reads and parses every Go file that go build ./... could see. A
// file that does not parse is kept as far as it was read: the rule gofmt
// reports it.
func readHouse(t *testing.T, fsys fs.FS) *house {
	t.Helper()
	h := &house{fsys: fsys, fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name != "." && (base[0] == '.' || base[0] == '_' || base == "testdata" || name == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		file, _ := parser.ParseFile(h.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if file == nil {
			return fmt.Errorf("%s: cannot be read as Go", name)
		}
		dir := path.Dir(name)
		if !slices.Contains(h.dirs, dir) { // its files may stand before and behind its folders
			h.dirs = append(h.dirs, dir)
		}
		h.files = append(h.files, goFile{
			name: name, dir: dir, src: src, ast: file,
			test:      strings.HasSuffix(name, "_test.go"),
			generated: ast.IsGenerated(file),
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// topLevel is all that may stand at the top, beside names that begin with a
// dot. bin is what make build writes and git ignores.
var topLevel = strings.Fields(`go.mod go.sum cmd decoder kcore pt coresight testdata docs
	Makefile README.md LICENSE CHANGELOG.md CONTRIBUTING.md bin`)

func findLayout(h *house) (found []string) {
	entries, err := fs.ReadDir(h.fsys, ".")
	if err != nil {
		return []string{err.Error()}
	}
	for _, e := range entries {
		if n := e.Name(); n[0] != '.' && !slices.Contains(topLevel, n) {
			found = append(found, n+": not in the fixed top level ("+strings.Join(topLevel, " ")+")")
		}
	}
	return found
}

// emptyNames are those that tell a reader nothing.
var emptyNames = strings.Fields("util utils utility common helper helpers misc stuff")

func findNames(h *house) (found []string) {
	for _, f := range h.files {
		file := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.name), ".go"), "_test")
		for _, n := range []string{path.Base(f.dir), strings.TrimSuffix(f.ast.Name.Name, "_test"), file} {
			if slices.Contains(emptyNames, n) {
				found = append(found, fmt.Sprintf("%s: the name %q says nothing", f.name, n))
				break
			}
		}
	}
	return found
}

func findFormat(h *house) (found []string) {
	for _, f := range h.files {
		switch out, err := format.Source(f.src); {
		case err != nil:
			found = append(found, f.name+": "+err.Error())
		case !bytes.Equal(out, f.src):
			found = append(found, f.name+": gofmt would change it")
		}
	}
	return found
}

func findInit(h *house) (found []string) {
	for _, f := range h.files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, fmt.Sprintf("%s: init function", h.at(fn)))
			}
		}
	}
	return found
}

// at says where n stands, as file:line.
func (h *house) at(n ast.Node) string {
	p := h.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}
