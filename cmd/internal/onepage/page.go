// Package onepage makes one file of the page of view and its modules, with what the server would
// have answered. It draws the picture of how the CPUs crossed a change to the code, too.
package onepage

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// modules are the page's scripts, in the order in which one needs the other.
var modules = []string{"dom", "format", "kept", "api", "slices", "stack", "call", "thread", "timeline", "play", "story", "steps", "moment", "welcome", "flame", "list", "search", "help", "main"}

// imports and exports are what makes a module of a script: each on a line of its own.
var (
	imports = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^import ({.*}) from '\./(\w+)\.js';$`) })
	exports = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^export ((?:async )?(?:function|class|const) (\w+))`)
	})
)

// oneScript makes one script of the page's modules. Each becomes a function that returns
// what it exports.
func oneScript(files fs.FS) (string, error) {
	var out strings.Builder
	for i, m := range modules {
		b, err := fs.ReadFile(files, m+".js")
		if err != nil {
			return "", err
		}
		for _, x := range imports().FindAllSubmatch(b, -1) {
			if !slices.Contains(modules[:i], string(x[2])) {
				return "", fmt.Errorf("onepage: %s.js needs %s.js, which comes behind it", m, x[2])
			}
		}
		var names []string
		for _, x := range exports().FindAllSubmatch(b, -1) {
			names = append(names, string(x[2]))
		}
		b = exports().ReplaceAll(imports().ReplaceAll(b, []byte("const ${1} = ${2}Module;")), []byte("$1"))
		fmt.Fprintf(&out, "const %sModule = (() => {\n%sreturn {%s};\n})();\n", m, b, strings.Join(names, ", "))
	}
	return out.String(), nil
}

// Write writes one file with the page of files and its answers, that needs no server.
func Write(w io.Writer, files fs.FS, answers any) error {
	script, err := oneScript(files)
	if err != nil {
		return err
	}
	style, err := fs.ReadFile(files, "style.css")
	if err != nil {
		return err
	}
	page, err := fs.ReadFile(files, "index.html")
	if err != nil {
		return err
	}
	var kept bytes.Buffer // with < as an escape: it ends no element
	if err := json.NewEncoder(&kept).Encode(answers); err != nil {
		return err
	}
	rule := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'", Hash(script), Hash(string(style)))
	_, err = strings.NewReplacer(
		`<meta charset="utf-8">`, `<meta charset="utf-8">`+"\n"+`<meta http-equiv="Content-Security-Policy" content="`+rule+`">`,
		`<link rel="icon" href="icon.svg">`+"\n", "",
		`<link rel="stylesheet" href="style.css">`, "<style>"+string(style)+"</style>",
		`<script type="module" src="main.js"></script>`, "",
		`</body>`, `<script type="application/json" id="answers">`+kept.String()+"</script>\n<script type=\"module\">"+script+"</script>\n</body>",
	).WriteString(w, string(page))
	return err
}

// Hash names an inline script or style in a policy.
func Hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
