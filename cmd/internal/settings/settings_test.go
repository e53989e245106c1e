package settings

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestUnknown would catch a mistyped variable that is passed over, one that is told of although it
// means something, and a tree of verbs that is made for nothing.
func TestUnknown(t *testing.T) {
	made := 0
	root := func() *cobra.Command {
		made++
		r, c := &cobra.Command{Use: "ptdecode"}, &cobra.Command{Use: "flow"}
		r.PersistentFlags().Bool("no-pager", false, "")
		c.Flags().String("level", "", "")
		r.AddCommand(c)
		return r
	}
	if got := Unknown([]string{"PATH=/bin", "PTDECODER_X=1", "PTDECODE_DATA=d", "PTDECODE_CONFIG=", "PTDECODE_PAGER=cat"}, root); got != nil || made != 0 {
		t.Errorf("%q, and the tree was made %d times", got, made)
	}
	got := Unknown([]string{"PTDECODE_LEVAL=x=y", "PTDECODE_NO_PAGER=1", "PTDECODE_FLOW_NO_PAGER=1", "PTDECODE_FLOW_LEVEL=insn", "PTDECODE_=", "PTDECODE_PEGER=less", "PTDECODE_QQQQQQQQ=1"}, root)
	want := []string{"PTDECODE_ means nothing", "PTDECODE_LEVAL means nothing; is it PTDECODE_LEVEL", "PTDECODE_PEGER means nothing; is it PTDECODE_PAGER", "PTDECODE_QQQQQQQQ means nothing"}
	if !slices.Equal(got, want) || made != 1 {
		t.Errorf("%q, want %q; the tree was made %d times", got, want, made)
	}
}

// TestOthers would catch a variable of the tests, or of how they are run, that the command calls unknown.
func TestOthers(t *testing.T) {
	const top = "../../.."
	reads := regexp.MustCompile(`(?:[Ee]nv\("|\$\{?|[^A-Z_"]|^)PTDECODE_([A-Z0-9_]+)["=:)]`)
	seen := 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") && name != "Makefile" && !strings.Contains(path, "/.ci/") && !strings.Contains(path, "/bench/") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, m := range reads.FindAllStringSubmatch(string(data), -1) {
			if seen++; !slices.Contains(others, m[1]) && !strings.HasSuffix(path, "settings_test.go") {
				t.Errorf("%s: %s%s", path, prefix, m[1])
			}
		}
		return err
	})
	if err != nil || seen < 10 {
		t.Errorf("%d variables are read in tests: %v", seen, err)
	}
}
