package version

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLong would catch a version that is lost where go install made the build, a linked
// version that loses against it, and a commit or module left out.
func TestLong(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.0",
		Main:      debug.Module{Path: "github.com/ptdecode/ptdecode", Version: "v1.2.3"},
		Deps: []*debug.Module{
			{Path: "example.com/a", Version: "v0.1.0", Sum: "h1:a"},
			{Path: "example.com/b", Version: "v0.2.0", Replace: &debug.Module{Path: "example.com/c", Version: "v0.3.0", Sum: "h1:c"}},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}},
	}
	at := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"}}}
	for _, c := range []struct {
		name, linked string
		info         *debug.BuildInfo
		modules      bool
		want         string
	}{
		{"go install", "", info, false, "ptdecode v1.2.3 go1.26.0 linux arm64\n"},
		{"linked", "v9", info, false, "ptdecode v9 go1.26.0 linux arm64\n"},
		{"modules", "", info, true, "ptdecode v1.2.3 go1.26.0 linux arm64\nmodule example.com/a v0.1.0 h1:a\nmodule example.com/c v0.3.0 h1:c\n"},
		{"commit", "", at, false, "ptdecode (devel)\ncommit abc 2026-01-02T03:04:05Z, with changes\n"},
		{"nothing known", "", &debug.BuildInfo{}, true, "ptdecode (devel)\n"},
	} {
		if diff := cmp.Diff(c.want, long(c.linked, c.info, c.modules)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
