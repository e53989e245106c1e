package coresight

import (
	"fmt"
	"slices"
	"strings"
)

// Arch is a core's architecture: version and profile. The zero value is an
// unknown one.
type Arch struct {
	Major, Minor uint8 // v8.3: 8 and 3; v7: 7 and 0
	Profile      byte  // 'A', 'R' or 'M'

	// AA64: only that it is a 64-bit core was said ("ARM-AA64"), not which
	// version. Major is 8 then, and AtLeast is always true.
	AA64 bool
}

// Known reports whether the architecture is known.
func (a Arch) Known() bool { return a.Major != 0 }

// AtLeast reports whether the core has what architecture major.minor has.
func (a Arch) AtLeast(major, minor uint8) bool {
	return a.AA64 || a.Major > major || a.Major == major && a.Minor >= minor
}

// String returns the architecture as in "v8.3-A", "aa64-A" or "?".
func (a Arch) String() string {
	switch {
	case !a.Known():
		return "?"
	case a.AA64:
		return fmt.Sprintf("aa64-%c", a.Profile)
	case a.Minor == 0:
		return fmt.Sprintf("v%d-%c", a.Major, a.Profile)
	}
	return fmt.Sprintf("v%d.%d-%c", a.Major, a.Minor, a.Profile)
}

// cores are the cores known by name, by the architecture that their Technical Reference
// Manuals state.
var cores = []struct {
	arch  Arch
	names string // with blanks between them
}{
	{Arch{Major: 7, Profile: 'A'}, `Cortex-A12 Cortex-A15 Cortex-A17 Cortex-A5 Cortex-A7 Cortex-A8 Cortex-A9`},
	{Arch{Major: 8, Profile: 'A'}, `Cortex-A32 Cortex-A34 Cortex-A35 Cortex-A53 Cortex-A57 Cortex-A72 Cortex-A73`},
	{Arch{Major: 8, Minor: 2, Profile: 'A'}, `Cortex-A55 Cortex-A65 Cortex-A65AE Cortex-A75 Cortex-A76 Cortex-A76AE Cortex-A77 Cortex-A78 Cortex-A78AE Cortex-A78C Cortex-X1 Cortex-X1C Neoverse-E1 Neoverse-N1`},
	{Arch{Major: 8, Minor: 4, Profile: 'A'}, `Neoverse-V1`},
	{Arch{Major: 9, Profile: 'A'}, `Cortex-A510 Cortex-A710 Cortex-A715 Cortex-X2 Cortex-X3 Neoverse-N2 Neoverse-V2`},
	{Arch{Major: 9, Minor: 2, Profile: 'A'}, `Cortex-A520 Cortex-A720 Cortex-A725 Cortex-X4 Cortex-X925 Neoverse-N3 Neoverse-V3`},
	{Arch{Major: 6, Profile: 'M'}, `Cortex-M0 Cortex-M0+ Cortex-M1`},
	{Arch{Major: 7, Profile: 'M'}, `Cortex-M3 Cortex-M4 Cortex-M7`},
	{Arch{Major: 8, Profile: 'M'}, `Cortex-M23 Cortex-M33 Cortex-M35P`},
	{Arch{Major: 8, Minor: 1, Profile: 'M'}, `Cortex-M52 Cortex-M55 Cortex-M85`},
	{Arch{Major: 7, Profile: 'R'}, `Cortex-R4 Cortex-R5 Cortex-R7 Cortex-R8`},
	{Arch{Major: 8, Profile: 'R'}, `Cortex-R52 Cortex-R52+`},
	{Arch{Major: 8, Minor: 4, Profile: 'R'}, `Cortex-R82`},
}

// ArchOf returns the architecture of a core by its name. That is the name of a
// product ("Cortex-A53"), or says the architecture itself: ARMvM[.m]-P
// ("ARMv8.1-M") and ARM-AA64[-P], P being A, R or M.
func ArchOf(name string) (Arch, bool) {
	for _, c := range cores {
		if slices.Contains(strings.Fields(c.names), name) {
			return c.arch, true
		}
	}
	if rest, ok := strings.CutPrefix(name, "ARM-"); ok {
		return archAA64(rest)
	}
	if rest, ok := strings.CutPrefix(name, "ARMv"); ok {
		return archPattern(rest)
	}
	return Arch{}, false
}

// archAA64 reads what follows "ARM-": AA64 or aa64, and perhaps a profile.
func archAA64(s string) (Arch, bool) {
	if len(s) < 4 || !strings.EqualFold(s[:4], "aa64") {
		return Arch{}, false
	}
	a := Arch{Major: 8, Profile: 'A', AA64: true}
	if s = s[4:]; s == "" {
		return a, true
	}
	if a.Profile = profile(s); a.Profile == 0 {
		return Arch{}, false
	}
	return a, true
}

// archPattern reads what follows "ARMv": M[.m]-P.
func archPattern(s string) (Arch, bool) {
	var a Arch
	version, _, ok := strings.Cut(s, "-")
	if !ok {
		return Arch{}, false
	}
	a.Profile = profile(s[len(version):])
	major, minor, dotted := strings.Cut(version, ".")
	var good bool
	if a.Major, good = digit(major); !good || a.Major < 6 || a.Profile == 0 {
		return Arch{}, false
	}
	if dotted {
		if a.Minor, good = digit(minor); !good {
			return Arch{}, false
		}
	}
	return a, true
}

// profile reads "-A", "-R" or "-M"; 0 for anything else.
func profile(s string) byte {
	if len(s) == 2 && s[0] == '-' && strings.IndexByte("ARM", s[1]) >= 0 {
		return s[1]
	}
	return 0
}

func digit(s string) (uint8, bool) {
	if len(s) != 1 || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	return s[0] - '0', true
}
