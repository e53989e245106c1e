package elfnames

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// maxName bounds a name as it is shown: 2^maxName bytes.
const maxName = 12

// Demangle returns a name of C++, Rust, D or Go's linkers as a programmer writes it, without
// the types of parameters. What a compiler says of a part or a clone of a function
// stays behind it: "ns::f.cold". Any other name it returns as it is.
func Demangle(name string) string {
	if !strings.HasPrefix(name, "_") || len(name) < 4 {
		return name
	}
	plain, clone := name, ""
	if strings.HasPrefix(name, "_Z") {
		if i := strings.IndexByte(name, '.'); i > 0 && !strings.HasPrefix(name[i:], ".llvm.") {
			plain, clone = name[:i], name[i:]
		}
	}
	plain, at, stub := strings.Cut(plain, "@")
	s, err := demangle.ToString(plain, demangle.NoParams, demangle.MaxLength(maxName))
	if err != nil || s == "" {
		return name
	}
	if stub {
		s += "@" + at
	}
	return s + clone
}
