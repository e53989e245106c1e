package recorder

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// shownCall matches a recording that a page tells readers to make.
var shownCall = regexp.MustCompile("ptdecode record ((?:--dry-run )?-[^`\n#|]+)")

// TestShownCalls would catch a page that tells readers to record in a way that is refused, or by
// which something is lacking, on a machine with Intel PT. TestDocs does not run these calls.
func TestShownCalls(t *testing.T) {
	planned := 0
	for name, b := range testsize.Files(t, "../../../../docs/*.md", "../../../../README.md") {
		for _, m := range shownCall.FindAllSubmatch(b, -1) {
			args := strings.TrimPrefix(strings.TrimSpace(string(m[1])), "--dry-run ")
			if strings.Contains(args, "cs_etm") {
				continue // Arm's unit
			}
			planned++
			p := planOf(machineFiles(t), args)
			for _, n := range p.notes {
				t.Errorf("%s: record %s: %s", name, args, n.what)
			}
			if p.stopped() {
				t.Errorf("%s: record %s is refused", name, args)
			}
		}
	}
	if planned < 15 {
		t.Errorf("only %d calls were found", planned)
	}
}
