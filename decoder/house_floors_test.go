package decoder_test

import (
	"fmt"
	"slices"
	"strings"
)

// room is a package's place in the house.
type room struct {
	floor    int
	only     []string // where set: all of the project that it may import, though more lies below
	beside   []string // of its own floor, what it may import all the same
	modules  []string // third-party modules that it may import
	testOnly bool     // only tests may import it
	large    bool     // may have more than maxPackageLines: one matter that cannot be cut
}

// rooms is the table of floors. A package imports only from floors below its
// own. A new package gets a row here and a line in docs/architecture.md.
var rooms = map[string]room{
	"cmd/ptdecode": {floor: 6, beside: []string{"cmd/internal/bundle", "cmd/internal/calls", "cmd/internal/completion", "cmd/internal/diff",
		"cmd/internal/explain", "cmd/internal/export", "cmd/internal/findings", "cmd/internal/hot", "cmd/internal/profile", "cmd/internal/settings", "cmd/internal/shard",
		"cmd/internal/step", "cmd/internal/version", "cmd/internal/view", "cmd/ptdecode/internal/misread"}, modules: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},

	// Calls as values.
	"decoder/calls":  {floor: 5},
	"decoder/report": {floor: 5, beside: []string{"decoder/calls"}},
	"decoder/bundle": {floor: 5, beside: []string{"decoder/report"}},
	"decoder":        {floor: 4, beside: []string{"decoder/internal/bundled"}},
	// What a Config names, also where that is a bundle.
	"decoder/internal/bundled":   {floor: 4},
	"cmd/ptdecode/internal/bare": {floor: 5, beside: []string{"cmd/internal/host"}},
	"cmd/internal/findings":      {floor: 6},
	"cmd/internal/version":       {floor: 6, modules: []string{"github.com/spf13/cobra"}},
	"cmd/internal/completion":    {floor: 6, modules: []string{"github.com/spf13/cobra"}},
	"cmd/internal/settings":      {floor: 6, modules: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},
	"cmd/internal/terminal":      {floor: 0, modules: []string{"golang.org/x/term"}},
	"cmd/internal/filter":        {floor: 5, beside: []string{"cmd/internal/machines"}, modules: []string{"github.com/spf13/pflag"}},
	"cmd/internal/machines":      {floor: 5},
	"cmd/ptdecode/internal/demo": {floor: 5, modules: []string{"github.com/spf13/cobra"}},
	"cmd/ptdecode/internal/heap": {floor: 0},
	// What is wrong with a call that cannot be read.
	"cmd/ptdecode/internal/misread": {floor: 6, modules: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},
	"cmd/ptdecode/internal/manual":  {floor: 1, modules: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},
	"cmd/ptdecode/internal/output":  {floor: 5},
	// ptdecode record.
	"cmd/ptdecode/internal/recorder": {floor: 5},
	// What the objects that it prints are like.
	"cmd/ptdecode/internal/schema": {floor: 0},
	// What info prints.
	"cmd/ptdecode/internal/summary": {floor: 5},
	// What rows need of a recording they declare; decoder satisfies it.
	"decoder/rows": {floor: 4, only: []string{"decoder/internal/flow", "kcore", "kcore/symbols", "decoder/event", "decoder/isa"}},

	// The walker declares what it needs; protocols, text and instruction sets
	// satisfy it without either side seeing the other.
	"decoder/internal/flow": {floor: 2, large: true, only: []string{"decoder/event", "decoder/isa"}},
	// What else the code may be, where the trace contradicts it.
	"decoder/internal/learn": {floor: 2, only: []string{"kcore", "kcore/symbols", "decoder/event", "decoder/isa"}},
	// What can be decoded, and by which rules: streams and their protocols.
	"decoder/internal/stream": {floor: 2},
	// What a recording says besides its trace.
	"decoder/internal/sideband": {floor: 2},
	// What damaged changes to code were.
	"decoder/internal/repair": {floor: 2, beside: []string{"decoder/internal/flow"}},
	// What is taken out of flow before it is merged.
	"decoder/internal/condense": {floor: 2, only: []string{"decoder/internal/flow", "decoder/event"}, beside: []string{"decoder/internal/flow"}},
	// Which packets count cycles.
	"decoder/internal/cyclecount": {floor: 2, beside: []string{"decoder/internal/stream"}},
	// When flow lies that is merged.
	"decoder/internal/pieces": {floor: 3, only: []string{"decoder/internal/flow", "decoder/event"}},
	// What boot makes of a vmlinux.
	"decoder/internal/buildtime": {floor: 2},
	// What the trace says of a vmlinux's boot.
	"decoder/internal/boot": {floor: 3},
	// What else the code may be, asked of the trace.
	"decoder/internal/trials": {floor: 3, only: []string{"decoder/internal/flow", "decoder/internal/learn", "kcore", "decoder/event", "decoder/isa"}},
	// Whose code it is: threads, mappings, address spaces.
	"decoder/internal/process": {floor: 2},
	// What was recorded, wherever it lies, as one value.
	"decoder/internal/recording": {floor: 3},
	// Samples of the kernel's patchers, which are pokes.
	"decoder/internal/patchers": {floor: 2, beside: []string{"decoder/internal/sideband"}},
	// Virtual machines: their records inside of the host's, their part of its trace.
	"decoder/internal/inject": {floor: 2, beside: []string{"decoder/internal/sideband"}},
	"decoder/internal/guests": {floor: 3, beside: []string{"decoder/internal/recording"}},
	// The simulated machine that knows the truth.
	"decoder/internal/sim": {floor: 2, testOnly: true, large: true},
	// What it traces, as a recording.
	"decoder/internal/simrec": {floor: 4, testOnly: true},

	"pt": {floor: 1},
	// The known defects of processors.
	"pt/internal/defects": {floor: 0},
	"coresight/etmv4":     {floor: 1},
	"coresight/etmv3":     {floor: 1, beside: []string{"coresight/internal/v3"}},
	"coresight/ptm":       {floor: 1, beside: []string{"coresight/internal/v3"}},
	"coresight/stm":       {floor: 1},
	"coresight/itm":       {floor: 1},
	// What ETMv3 and PTM share.
	"coresight/internal/v3": {floor: 1},
	// Kernel code in time, and what it is made of: images and symbols.
	"kcore":                     {floor: 1, beside: []string{"kcore/image", "kcore/symbols"}},
	"kcore/image":               {floor: 1, beside: []string{"kcore/symbols"}},
	"kcore/symbols":             {floor: 1},
	"decoder/internal/perfdata": {floor: 1, large: true, modules: []string{"github.com/klauspost/compress"}},
	"decoder/snapshot":          {floor: 1},
	// What programs write of the code that they make.
	"decoder/internal/jit": {floor: 1},
	// Names of the code of programs, and the lines that it was made of.
	"decoder/internal/srclines": {floor: 1},
	"decoder/internal/elfnames": {floor: 1, modules: []string{"github.com/ianlancetaylor/demangle", "github.com/therootcompany/xz"}},
	"decoder/internal/bundle":   {floor: 1, modules: []string{"github.com/klauspost/compress"}},
	"decoder/isa/x86":           {floor: 1, modules: []string{"golang.org/x/arch"}},
	"decoder/isa/a64":           {floor: 1, modules: []string{"golang.org/x/arch"}},
	"decoder/isa/a32":           {floor: 1, modules: []string{"golang.org/x/arch"}},

	// What the tests of Arm's protocols share. Tests may import what lies beside
	// them, and this stands for tests: it reads the snapshots.
	"coresight/internal/tracetest": {floor: 1, beside: []string{"coresight/internal/v3", "decoder/snapshot", "decoder/packettext/packettest"}, testOnly: true,
		modules: []string{"github.com/google/go-cmp", "github.com/klauspost/compress"}},

	// How all instruction sets print what none of them has of its own.
	"decoder/isa/internal/line": {floor: 0},
	// What the tests of instruction sets share.
	"decoder/isa/internal/isatest": {floor: 1, testOnly: true},
	// What the tests of all protocols share.
	"decoder/packettext/packettest": {floor: 1, testOnly: true},
	// What the tests of all packages share, and what prints their outcome.
	"decoder/testsize":        {floor: 0, beside: []string{"decoder/files"}, testOnly: true},
	"cmd/internal/testreport": {floor: 0},
	// What the tests of verbs share.
	"cmd/internal/recorded": {floor: 5, testOnly: true},
	// How files get their names.
	"cmd/internal/wholefile": {floor: 0},
	"cmd/internal/sbom":      {floor: 0},
	"cmd/internal/bench":     {floor: 0},
	"cmd/internal/explain":   {floor: 6, modules: []string{"github.com/spf13/cobra"}},
	// One change to the code, with all that is known of it.
	"cmd/internal/story": {floor: 5, beside: []string{"cmd/internal/machines", "decoder/report"}},
	// A recording in few lines.
	"cmd/internal/gist":   {floor: 5, beside: []string{"cmd/internal/filter", "decoder/report"}},
	"cmd/internal/diff":   {floor: 6, modules: []string{"github.com/spf13/cobra"}},
	"cmd/internal/step":   {floor: 6, modules: []string{"github.com/spf13/cobra", "golang.org/x/term"}},
	"cmd/internal/shard":  {floor: 6, modules: []string{"github.com/klauspost/compress", "github.com/spf13/cobra", "github.com/spf13/pflag"}},
	"cmd/internal/calls":  {floor: 6, modules: []string{"github.com/spf13/cobra"}},
	"cmd/internal/bundle": {floor: 6, modules: []string{"github.com/spf13/cobra"}},
	"cmd/internal/profile": {floor: 6, beside: []string{"cmd/internal/export"},
		modules: []string{"github.com/spf13/cobra", "github.com/google/pprof"}},
	"cmd/internal/export": {floor: 6, modules: []string{"github.com/spf13/cobra", "github.com/google/pprof", "google.golang.org/protobuf"}},
	// The page and its server.
	"cmd/internal/view":        {floor: 6, modules: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},
	"cmd/internal/onepage":     {floor: 0},
	"cmd/internal/loopback":    {floor: 5},
	"cmd/internal/vmlinux":     {floor: 5},
	"cmd/internal/shell":       {floor: 0, modules: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},
	"cmd/internal/items":       {floor: 5, beside: []string{"cmd/internal/machines", "decoder/calls"}},
	"cmd/internal/marks":       {floor: 5, beside: []string{"cmd/internal/filter", "cmd/internal/items", "cmd/internal/story", "decoder/report"}},
	"cmd/internal/spread":      {floor: 0},
	"cmd/internal/source":      {floor: 0},
	"cmd/internal/flame":       {floor: 0},
	"cmd/internal/chromium":    {floor: 0, testOnly: true},
	"cmd/internal/protofields": {floor: 0, testOnly: true, modules: []string{"google.golang.org/protobuf"}},
	"cmd/internal/hot":         {floor: 6, modules: []string{"github.com/spf13/cobra"}},
	// What verbs in packages of their own need of the command, and count.
	"cmd/internal/host": {floor: 5, beside: []string{"cmd/internal/filter"}, modules: []string{"github.com/spf13/cobra"}},
	// Formats of export that are written as the flow comes.
	"cmd/internal/perfetto": {floor: 5, beside: []string{"decoder/calls", "decoder/report"}, modules: []string{"google.golang.org/protobuf"}},
	"cmd/internal/tables": {floor: 5, beside: []string{"cmd/internal/counts", "cmd/internal/host", "decoder/calls", "decoder/report"},
		modules: []string{"github.com/klauspost/compress"}},
	"cmd/internal/counts": {floor: 5, beside: []string{"cmd/internal/host"}},

	// By which addresses a trace unit filtered.
	"decoder/internal/addrfilter": {floor: 0},
	"decoder/internal/held":       {floor: 0},

	"decoder/event": {floor: 0},
	// What people read of numbers.
	"cmd/internal/plural":     {floor: 0},
	"decoder/internal/plural": {floor: 0},
	"decoder/isa":             {floor: 0},
	// How protocols write packets as text.
	"decoder/packettext": {floor: 0},
	// Files of the system or of an fs.FS, packed or not.
	"decoder/files": {floor: 0, beside: []string{"decoder/badfile"}, modules: []string{"github.com/klauspost/compress"}},
	// The error of all who read files.
	"decoder/badfile": {floor: 0},
	// What Arm's protocols share: frames, configuration. A vocabulary too, since
	// both the protocols below it and decoder/snapshot speak it.
	"coresight": {floor: 0, beside: []string{"decoder/event"}},
	// What their folders share: sync points; of the older ones also bytes of packets.
	"coresight/internal/wire": {floor: 0, beside: []string{"decoder/event"}},
}

// testModules are what any test may import: comparison, scripts, and
// compressed goldens.
var testModules = []string{
	"github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "github.com/klauspost/compress",
}

func findFloors(h *house) (found []string) {
	for _, dir := range h.dirs {
		if _, ok := rooms[dir]; !ok {
			found = append(found, dir+": no row in the table of rooms (decoder/house_floors_test.go): give it a floor")
		}
	}
	for _, f := range h.files {
		from, ok := rooms[f.dir]
		if !ok {
			continue
		}
		for _, spec := range f.ast.Imports {
			name, ours := strings.CutPrefix(unquote(spec.Path.Value), modulePath+"/")
			if !ours {
				continue
			}
			to, known := rooms[name]
			switch {
			case !known:
				found = append(found, fmt.Sprintf("%s: imports %s, which has no row in the table of rooms", f.name, name))
			case f.test && to.floor > from.floor:
				found = append(found, fmt.Sprintf("%s: a test of %s (floor %d) must not import %s (floor %d)",
					f.name, f.dir, from.floor, name, to.floor))
			case f.test:
			case to.testOnly && !from.testOnly:
				found = append(found, fmt.Sprintf("%s: %s is for tests only", f.name, name))
			case slices.Contains(from.beside, name) && to.floor == from.floor:
			case to.floor >= from.floor, from.only != nil && !slices.Contains(from.only, name):
				found = append(found, fmt.Sprintf("%s: %s (floor %d) must not import %s (floor %d)",
					f.name, f.dir, from.floor, name, to.floor))
			}
		}
	}
	return found
}

func findModules(h *house) (found []string) {
	for _, f := range h.files {
		for _, spec := range f.ast.Imports {
			name := unquote(spec.Path.Value)
			first, _, _ := strings.Cut(name, "/")
			switch {
			case name == "unsafe", name == "C":
			case !strings.Contains(first, "."): // the standard library
				continue
			case name == modulePath, strings.HasPrefix(name, modulePath+"/"): // findFloors judges it
				continue
			case inModules(rooms[f.dir].modules, name), f.test && inModules(testModules, name):
				continue
			}
			found = append(found, fmt.Sprintf("%s: %s must not import %s", f.name, f.dir, name))
		}
	}
	return found
}

// inModules reports whether the package name belongs to one of the modules.
func inModules(modules []string, name string) bool {
	for _, m := range modules {
		if name == m || strings.HasPrefix(name, m+"/") {
			return true
		}
	}
	return false
}

// unquote strips the quotes of an import path, which holds no escapes.
func unquote(s string) string { return strings.Trim(s, "`\"") }
