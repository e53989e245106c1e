package decoder_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"strings"
)

// The limits, in lines. Tests and generated files may be longer.
const (
	maxFileLines = 600
	maxFuncLines = 60
)

// longFuncs are the functions that may be longer than maxFuncLines, each with
// the reason: one switch over its packets a protocol, and no more.
var longFuncs = map[string]string{
	"pt.(*Decoder).burst":                    "the switch over the packets that come in bursts",
	"pt.Packet.Append":                       "the switch over the packets, one case each",
	"decoder/internal/flow.(*Walker).fast":   "the hot loop: a call in it costs more than the work between two",
	"decoder/internal/flow.(*Walker).points": "the same",
	"decoder/calls.brisk":                    "the same",
	"decoder/calls.stepping":                 "the same",
}

func findFileLength(h *house) (found []string) {
	for _, f := range h.files {
		n := bytes.Count(f.src, []byte("\n"))
		if !f.test && !f.generated && n > maxFileLines {
			found = append(found, fmt.Sprintf("%s: %d lines, at most %d", f.name, n, maxFileLines))
		}
	}
	return found
}

func findFuncLength(h *house) (found []string) {
	long := map[string]bool{}
	for _, f := range h.files {
		if f.test || f.generated {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := h.fset.Position(fn.End()).Line - h.fset.Position(fn.Pos()).Line + 1
			if n <= maxFuncLines {
				continue
			}
			name := f.dir + "." + fn.Name.Name
			if recv, pointer := receiver(fn); pointer {
				name = fmt.Sprintf("%s.(*%s).%s", f.dir, recv, fn.Name.Name)
			} else if recv != "" {
				name = fmt.Sprintf("%s.%s.%s", f.dir, recv, fn.Name.Name)
			}
			long[name] = true
			if h.longFuncs[name] == "" {
				found = append(found, fmt.Sprintf("%s: %s: %d lines, at most %d", h.at(fn), name, n, maxFuncLines))
			}
		}
	}
	for name := range h.longFuncs {
		if !long[name] {
			found = append(found, fmt.Sprintf("longFuncs: %s is not over %d lines any more: take it off the list", name, maxFuncLines))
		}
	}
	return found
}

// receiver returns the name of fn's receiver type, without type parameters;
// "" where fn is no method.
func receiver(fn *ast.FuncDecl) (name string, pointer bool) {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return "", false
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t, pointer = star.X, true
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	if id, ok := t.(*ast.Ident); ok {
		name = id.Name
	}
	return name, pointer
}

func findDocs(h *house) (found []string) {
	spoken := map[string]bool{}
	for _, f := range h.files {
		if f.test {
			continue
		}
		spoken[f.dir] = spoken[f.dir] || f.ast.Doc.Text() != ""
		mute := func(n ast.Node, name string) {
			found = append(found, fmt.Sprintf("%s: %s has no doc comment", h.at(n), name))
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				recv, _ := receiver(d)
				if d.Doc.Text() != "" || !d.Name.IsExported() || recv != "" && !ast.IsExported(recv) {
					continue
				}
				mute(d, strings.TrimPrefix(recv+"."+d.Name.Name, "."))
			case *ast.GenDecl:
				findGroupDocs(d, mute)
			}
		}
	}
	for _, dir := range h.dirs {
		if said, code := spoken[dir]; code && !said {
			found = append(found, dir+": no package comment")
		}
	}
	return found
}

// findGroupDocs looks at the declarations of one const, var or type group. A
// comment on the group speaks for its values, not for its types.
func findGroupDocs(d *ast.GenDecl, mute func(ast.Node, string)) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			if d.Doc.Text() != "" || s.Doc.Text() != "" || s.Comment.Text() != "" {
				continue
			}
			for _, n := range s.Names {
				if n.IsExported() {
					mute(n, n.Name)
				}
			}
		case *ast.TypeSpec:
			if !s.Name.IsExported() {
				continue
			}
			alone := !d.Lparen.IsValid() && d.Doc.Text() != ""
			if !alone && s.Doc.Text() == "" && s.Comment.Text() == "" {
				mute(s, s.Name.Name)
			}
			if iface, ok := s.Type.(*ast.InterfaceType); ok && iface.Methods.NumFields() > 1 {
				findMethodDocs(iface, s.Name.Name, mute)
			}
		}
	}
}

// findMethodDocs looks at an interface of several methods; the one method of
// an interface may be described with its type.
func findMethodDocs(iface *ast.InterfaceType, name string, mute func(ast.Node, string)) {
	for _, m := range iface.Methods.List {
		if m.Doc.Text() != "" || m.Comment.Text() != "" {
			continue
		}
		for _, n := range m.Names { // an embedded interface has none
			if n.IsExported() {
				mute(n, name+"."+n.Name)
			}
		}
	}
}
