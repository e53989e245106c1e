package calls_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// trapped returns the addresses at which the CPUs of an arm64 recording took breakpoint exceptions. x86 has
// no such list.
func trapped(dir string) (list []uint64) {
	b, _ := os.ReadFile(filepath.Join(dir, "truth.traps")) // time, CPU, address, number
	for line := range strings.Lines(string(b)) {
		if w := strings.Fields(line); len(w) > 2 {
			ip, _ := strconv.ParseUint(w[2], 16, 64)
			list = append(list, ip)
		}
	}
	return list
}
