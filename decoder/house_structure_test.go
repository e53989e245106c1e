package decoder_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// Limits of structure. Budgets (house_budget_test.go) are what a package or a
// type may still have more.
const (
	maxPackageLines = 3000 // lines that are neither blank nor comments
	maxMethods      = 40   // of a type
	maxPublic       = 350  // names that other modules see, in all packages
)

// asked are methods that interfaces of the standard library ask for.
var asked = strings.Fields(`Error Unwrap Is As String GoString Format Write Read Close ReadAt WriteAt WriteTo ReadFrom Seek
	ReadByte UnreadByte WriteByte WriteString Len Less Swap Push Pop Set Type Reset
	MarshalJSON UnmarshalJSON MarshalText UnmarshalText AppendText Name Size Mode ModTime IsDir Sys Stat Open`)

// findNamesakes looks for functions and methods of one name in a package. A
// name is free where an interface anywhere in the tree has it, or one of the
// standard library. So is that of an exported method, which documents and
// callers name with its type. Files for different systems may declare the same
// function, and packages for tests may hold twins.
func findNamesakes(h *house) (found []string) {
	free := map[string]bool{}
	for _, name := range asked {
		free[name] = true
	}
	for _, f := range h.files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if iface, ok := n.(*ast.InterfaceType); ok {
				for _, m := range iface.Methods.List {
					for _, name := range m.Names {
						free[name.Name] = true
					}
				}
			}
			return true
		})
	}
	type function struct{ dir, name string }
	at := map[function]map[string]*ast.FuncDecl{} // by receiver
	for _, f := range h.files {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || f.test || rooms[f.dir].testOnly || free[fn.Name.Name] || fn.Name.Name == "_" {
				continue
			}
			recv, _ := receiver(fn)
			if recv != "" && fn.Name.IsExported() {
				continue
			}
			k := function{f.dir, fn.Name.Name}
			if at[k] == nil {
				at[k] = map[string]*ast.FuncDecl{}
			}
			at[k][recv] = fn
		}
	}
	for k, fns := range at {
		if len(fns) < 2 {
			continue
		}
		var where []string
		first := ""
		for _, recv := range slices.Sorted(maps.Keys(fns)) {
			if first == "" {
				first = h.at(fns[recv])
			}
			where = append(where, strings.TrimPrefix(recv+"."+k.name, "."))
		}
		found = append(found, fmt.Sprintf("%s: one name for several functions, which no interface asks for: %s",
			first, strings.Join(where, ", ")))
	}
	slices.Sort(found)
	return found
}

// findPackageLength counts lines of code, those of all systems together.
func findPackageLength(h *house) (found []string) {
	lines := map[string]int{}
	for _, f := range h.files {
		if !f.test && !f.generated {
			lines[f.dir] += h.codeLines(f)
		}
	}
	for _, dir := range h.dirs {
		if rooms[dir].large {
			continue
		}
		if n, most := lines[dir], max(maxPackageLines, h.packageLines[dir]); n > most {
			found = append(found, fmt.Sprintf("%s: %d lines of code, at most %d", dir, n, most))
		}
	}
	return found
}

// codeLines counts the lines of f that hold more than comments.
func (h *house) codeLines(f goFile) (n int) {
	src := bytes.Clone(f.src)
	base := h.fset.File(f.ast.Pos())
	for _, g := range f.ast.Comments {
		for _, c := range g.List {
			text := src[base.Offset(c.Pos()):min(base.Offset(c.End()), len(src))]
			for i := range text {
				if text[i] != '\n' {
					text[i] = ' '
				}
			}
		}
	}
	for line := range bytes.Lines(src) {
		if len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n
}

// findMethods counts the methods of each type.
func findMethods(h *house) (found []string) {
	methods := map[string]int{}
	for _, f := range h.files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && !f.test {
				if recv, _ := receiver(fn); recv != "" {
					methods[f.dir+"."+recv]++
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		if n, most := methods[name], max(maxMethods, h.typeMethods[name]); n > most {
			found = append(found, fmt.Sprintf("%s: %d methods, at most %d", name, n, most))
		}
	}
	return found
}

// findPublic counts the names that programs of other modules see: functions,
// types, variables and constants, the constants of one type as one.
func findPublic(h *house) (found []string) {
	public := map[string]map[string]bool{} // by folder
	for _, f := range h.files {
		if f.test || f.ast.Name.Name == "main" || slices.Contains(strings.Split(f.dir, "/"), "internal") {
			continue
		}
		if public[f.dir] == nil {
			public[f.dir] = map[string]bool{}
		}
		for _, d := range f.ast.Decls {
			publicNames(d, public[f.dir])
		}
	}
	total := 0
	var parts []string
	for _, dir := range slices.Sorted(maps.Keys(public)) {
		total += len(public[dir])
		parts = append(parts, fmt.Sprintf("%s %d", dir, len(public[dir])))
	}
	if most := max(maxPublic, h.publicNames); total > most {
		found = append(found, fmt.Sprintf("%d public names, at most %d: %s", total, most, strings.Join(parts, ", ")))
	}
	return found
}

// publicNames puts the exported names of d into names. A constant goes by its
// type, if it has one.
func publicNames(d ast.Decl, names map[string]bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			names[d.Name.Name] = true
		}
	case *ast.GenDecl:
		kind := "" // the type of the constants at hand
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					names[s.Name.Name] = true
				}
			case *ast.ValueSpec:
				if s.Type != nil || len(s.Values) > 0 { // else it repeats the one above
					kind = constType(s)
				}
				for _, n := range s.Names {
					switch {
					case !n.IsExported():
					case d.Tok == token.CONST && kind != "":
						names["constants of "+kind] = true
					default:
						names[n.Name] = true
					}
				}
			}
		}
	}
}

// constType is the type of a constant as far as its declaration names it: T in
// "const A T = 1" and in "const A = T(1)".
func constType(s *ast.ValueSpec) string {
	t := s.Type
	if t == nil {
		call, ok := s.Values[0].(*ast.CallExpr)
		if !ok {
			return ""
		}
		t = call.Fun
	}
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return ""
}

var structureRules = []rule{
	{"namesakes", findNamesakes, nil, namesakeBudgets},
	{"package length", findPackageLength, []broken{{
		catches: "a package that should be two",
		tree: map[string]string{"pt/a.go": "package pt\n// A comment.\n\n" + strings.Repeat("var _ = 1 // too\n", maxPackageLines),
			"pt/a_test.go": "package pt\n"},
		want: "pt: 3001 lines of code, at most 3000",
	}}, nil},
	{"methods", findMethods, []broken{{
		catches: "a type that does too much",
		tree:    map[string]string{"pt/a.go": "package pt\n" + strings.Repeat("func (*t) m() {}\n", maxMethods+1)},
		want:    "pt.t: 41 methods, at most 40",
	}}, nil},
	{"public names", findPublic, []broken{{
		catches: "names that nobody outside needs",
		tree:    map[string]string{"pt/a.go": "package pt\n" + manyNames(maxPublic+1)},
		want:    "351 public names, at most 350: pt 351",
	}, {
		catches: "constants of one type that are counted one by one, or not at all",
		tree: map[string]string{"pt/a.go": "package pt\nconst (\n\tA T = iota\n\tB\n)\nconst C, D = T(1), T(2)\nconst E = 1\n",
			"pt/b.go": "package pt\n" + manyNames(maxPublic-1), "pt/internal/x/a.go": "package x\nvar X int\n"},
		want: "351 public names, at most 350: pt 351",
	}}, nil},
}

// manyNames declares n functions.
func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "func F%d() {}\n", i)
	}
	return b.String()
}
