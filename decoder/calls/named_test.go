package calls_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
)

// named opens a recording whose symbols are the lines of kallsyms.
func named(t *testing.T, f *recording.Recording, kallsyms []byte) *decoder.Session {
	t.Helper()
	names := filepath.Join(t.TempDir(), "kallsyms")
	if err := os.WriteFile(names, kallsyms, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := decoder.OpenRecording(f, decoder.Config{Kallsyms: names})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
