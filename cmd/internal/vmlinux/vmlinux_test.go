package vmlinux

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPackedVmlinux would catch a vmlinux that is packed, as recordings' own files may be, and of
// which it is not said which file cannot be read, and what to do.
func TestPackedVmlinux(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vmlinux.zst")
	if err := os.WriteFile(file, []byte("\x28\xb5\x2f\xfd"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file); err == nil || err.Error() != file+": --vmlinux needs an ELF file: it is packed: unpack it by zstd -d" {
		t.Errorf("a packed file: %v", err)
	}
}
