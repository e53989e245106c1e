package decoder_test

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// measured are the names of fields that hold a quantity, whatever stands
// before them: StreamOff, MaxLen, TimeShift.
var measured = regexp.MustCompile(`(^|[a-z])(Off|Offset|Size|Len|Length|Period|Freq|Ticks|Duration|Timeout|Limit|Cycles)$`)

// unit is a word that says in what.
var unit = regexp.MustCompile(`(?i)\b(bytes?|bits?|words?|ns|nanoseconds?|m?s|ticks?|cycles?|[km]?hz|events|` +
	`instructions?|packets?|records?|blocks?|cuts|pokes|outcomes|entries|items?|elements|pages?|lines?|log2|power of)\b`)

// numeric are the types in which a quantity could be anything. A type of its
// own, such as event.Time, says what it counts by itself.
var numeric = regexp.MustCompile(`^u?int(8|16|32|64)?$`)

// findUnits looks for exported fields that hold a quantity and whose comment
// does not say in what.
func findUnits(h *house) (found []string) {
	for _, f := range h.files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok {
				return true
			}
			for _, s := range d.Specs {
				ts, ok := s.(*ast.TypeSpec)
				if !ok || !ts.Name.IsExported() {
					continue
				}
				st, ok := ts.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, field := range st.Fields.List {
					id, ok := field.Type.(*ast.Ident)
					if !ok || !numeric.MatchString(id.Name) || unit.MatchString(field.Doc.Text()+field.Comment.Text()) {
						continue
					}
					for _, name := range field.Names {
						if name.IsExported() && measured.MatchString(name.Name) {
							found = append(found, fmt.Sprintf("%s: %s.%s does not say in what unit", h.at(name), ts.Name.Name, name.Name))
						}
					}
				}
			}
			return true
		})
	}
	return found
}

// source is how a package comment names the document that its facts are from.
var source = regexp.MustCompile(`(?i)manual|specification|\bSDM\b|\.(h|c|txt|rst)\b`)

// findSources holds the packages that read what others defined (floor 1, but
// for what serves tests) to naming where it is defined.
func findSources(h *house) (found []string) {
	said := map[string]string{}
	for _, f := range h.files {
		if !f.test {
			said[f.dir] += f.ast.Doc.Text()
		}
	}
	for _, dir := range h.dirs {
		if text := strings.TrimSpace(said[dir]); rooms[dir].floor == 1 && !rooms[dir].testOnly && !source.MatchString(text) {
			found = append(found, dir+": the package comment names no manual, specification or header that it follows")
		}
	}
	return found
}
