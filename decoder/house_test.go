package decoder_test

import (
	"bytes"
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

// rule is one rule. find returns what breaks it, one line for each case. budgets
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
	{"layout", findLayout, []broken{{
		catches: "a file or folder at the top level that is not in the fixed set",
		tree:    map[string]string{"tools/x.go": "package tools"},
		want:    "tools: not in the fixed top level",
	}}, nil},
	{"names", findNames, []broken{{
		catches: "a file that is named after nothing in particular",
		tree:    map[string]string{"pt/util.go": "package pt"},
		want:    `pt/util.go: the name "util" says nothing`,
	}, {
		catches: "a package that is named so",
		tree:    map[string]string{"decoder/common/a.go": "package common"},
		want:    `decoder/common/a.go: the name "common" says nothing`,
	}}, nil},
	{"gofmt", findFormat, []broken{{
		catches: "source that gofmt would change",
		tree:    map[string]string{"pt/a.go": "package pt\nvar  x int\n"},
		want:    "pt/a.go: gofmt would change it",
	}, {
		catches: "source that is no Go, in a file for another system too",
		tree:    map[string]string{"pt/a_windows.go": "package pt\nfunc {\n"},
		want:    "pt/a_windows.go: 2:6: expected",
	}}, nil},
	{"floors", findFloors, []broken{{
		catches: "an import that goes sideways",
		tree:    map[string]string{"pt/a.go": "package pt\nimport _ \"" + modulePath + "/kcore\"\n"},
		want:    "pt/a.go: pt (floor 1) must not import kcore (floor 1)",
	}, {
		catches: "an import that goes up",
		tree:    map[string]string{"kcore/a.go": "package kcore\nimport _ \"" + modulePath + "/decoder/flow\"\n"},
		want:    "kcore/a.go: kcore (floor 1) must not import decoder/flow (floor 2)",
	}, {
		catches: "the walker learning of a protocol, which lies lower but is none of its business",
		tree:    map[string]string{"decoder/flow/a.go": "package flow\nimport _ \"" + modulePath + "/pt\"\n"},
		want:    "decoder/flow/a.go: decoder/flow (floor 2) must not import pt (floor 1)",
	}, {
		catches: "the simulated machine in the shipped program",
		tree:    map[string]string{"decoder/a.go": "package decoder\nimport _ \"" + modulePath + "/decoder/internal/sim\"\n"},
		want:    "decoder/a.go: decoder/internal/sim is for tests only",
	}, {
		catches: "what only tests import going sideways, but where its row says so",
		tree:    map[string]string{"coresight/internal/tracetest/a.go": "package tracetest\nimport _ \"" + modulePath + "/pt\"\n"},
		want:    "coresight/internal/tracetest/a.go: coresight/internal/tracetest (floor 1) must not import pt (floor 1)",
	}, {
		catches: "a test that needs what lies above the package it tests",
		tree:    map[string]string{"pt/a_test.go": "package pt\nimport _ \"" + modulePath + "/decoder\"\n"},
		want:    "pt/a_test.go: a test of pt (floor 1) must not import decoder (floor 4)",
	}, {
		catches: "a new package that nobody has given a floor",
		tree:    map[string]string{"pt/more/a.go": "package more\n"},
		want:    "pt/more: no row in the table of rooms",
	}}, nil},
	{"modules", findModules, []broken{{
		catches: "a third-party module outside its place: cobra below the command",
		tree:    map[string]string{"pt/a.go": "package pt\nimport _ \"github.com/spf13/cobra\"\n"},
		want:    "pt/a.go: pt must not import github.com/spf13/cobra",
	}, {
		catches: "a module for tests in the program",
		tree:    map[string]string{"pt/a.go": "package pt\nimport _ \"github.com/google/go-cmp/cmp\"\n"},
		want:    "pt/a.go: pt must not import github.com/google/go-cmp/cmp",
	}, {
		catches: "unsafe code",
		tree:    map[string]string{"pt/a.go": "package pt\nimport _ \"unsafe\"\n"},
		want:    "pt/a.go: pt must not import unsafe",
	}, {
		catches: "C code, which would end cross-compiling",
		tree:    map[string]string{"pt/a.go": "package pt\nimport \"C\"\n"},
		want:    "pt/a.go: pt must not import C",
	}}, nil},
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
	{"docs", findDocs, []broken{{
		catches: "an exported function without a doc comment",
		tree:    map[string]string{"pt/a.go": "package pt\nfunc F() {}\n"},
		want:    "pt/a.go:2: F has no doc comment",
	}, {
		catches: "an exported method without one",
		tree:    map[string]string{"pt/a.go": "package pt\ntype T int // A T.\nfunc (*T) F() {}\n"},
		want:    "pt/a.go:3: T.F has no doc comment",
	}, {
		catches: "an exported type in a group without one of its own",
		tree:    map[string]string{"pt/a.go": "package pt\n// Types.\ntype (\n\tT int\n)\n"},
		want:    "pt/a.go:4: T has no doc comment",
	}, {
		catches: "an exported constant or variable without one of its own or its group's",
		tree:    map[string]string{"pt/a.go": "package pt\nconst (\n\tA = 1 // A.\n\tB = 2\n)\n"},
		want:    "pt/a.go:4: B has no doc comment",
	}, {
		catches: "an interface's methods without the contract that they ask for",
		tree:    map[string]string{"pt/a.go": "package pt\n// An I.\ntype I interface {\n\tM()\n\tN()\n}\n"},
		want:    "pt/a.go:4: I.M has no doc comment",
	}, {
		catches: "a package that does not say what it is",
		tree:    map[string]string{"pt/a.go": "package pt\n"},
		want:    "pt: no package comment",
	}}, nil},
	{"units", findUnits, []broken{{
		catches: "an exported field that holds a quantity of nobody knows what",
		tree:    map[string]string{"pt/a.go": "package pt\n// A T.\ntype T struct {\n\tMaxLen int // how long\n}\n"},
		want:    "pt/a.go:4: T.MaxLen does not say in what unit",
	}}, nil},
	{"sources", findSources, []broken{{
		catches: "a package that reads somebody's format and does not say where it is defined",
		tree:    map[string]string{"pt/a.go": "// Package pt reads.\npackage pt\n"},
		want:    "pt: the package comment names no manual",
	}}, nil},
	{"init", findInit, []broken{{
		catches: "work that importing a package does behind the caller's back",
		tree:    map[string]string{"pt/a.go": "package pt\nfunc init() {}\n"},
		want:    "pt/a.go:2: init function",
	}}, nil},
	{"architecture", findArchitecture, []broken{{
		catches: "a package that docs/architecture.md does not speak of",
		tree:    map[string]string{"docs/architecture.md": "`kcore`", "pt/a.go": "package pt\n"},
		want:    "docs/architecture.md: no word of `pt`",
	}}, nil},
	{"links", findLinks, []broken{{
		catches: "a link in the documents that leads nowhere",
		tree:    map[string]string{"docs/a.md": "[b](b.md#c) [d](https://example.org/)"},
		want:    "docs/a.md: link to b.md, which does not exist",
	}}, nil},
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
			for _, b := range r.breaks {
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

// TestBudgets lists, with -v, what the rules with budgets find without them, and
// the budgets of folders as they would have to be now.
func TestBudgets(t *testing.T) {
	if !testing.Verbose() {
		t.Skip("a list, for go test -v")
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
