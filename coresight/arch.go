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

// core is one row of the table of cores by name.
type core struct {
	name string
	arch Arch
}

// cores are the cores known by name, as their Technical Reference Manuals
// state the architecture, sorted by name.
var cores = []core{
	{"Cortex-A12", Arch{Major: 7, Profile: 'A'}},
	{"Cortex-A15", Arch{Major: 7, Profile: 'A'}},
	{"Cortex-A17", Arch{Major: 7, Profile: 'A'}},
	{"Cortex-A32", Arch{Major: 8, Profile: 'A'}},
	{"Cortex-A34", Arch{Major: 8, Profile: 'A'}},
	{"Cortex-A35", Arch{Major: 8, Profile: 'A'}},
	{"Cortex-A5", Arch{Major: 7, Profile: 'A'}},
	{"Cortex-A510", Arch{Major: 9, Profile: 'A'}},
	{"Cortex-A520", Arch{Major: 9, Minor: 2, Profile: 'A'}},
	{"Cortex-A53", Arch{Major: 8, Profile: 'A'}},
	{"Cortex-A55", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Cortex-A57", Arch{Major: 8, Profile: 'A'}},
	{"Cortex-A65", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Cortex-A65AE", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Cortex-A7", Arch{Major: 7, Profile: 'A'}},
	{"Cortex-A710", Arch{Major: 9, Profile: 'A'}},
	{"Cortex-A715", Arch{Major: 9, Profile: 'A'}},
	{"Cortex-A72", Arch{Major: 8, Profile: 'A'}},
	{"Cortex-A720", Arch{Major: 9, Minor: 2, Profile: 'A'}},
	{"Cortex-A725", Arch{Major: 9, Minor: 2, Profile: 'A'}},
	{"Cortex-A73", Arch{Major: 8, Profile: 'A'}},
	{"Cortex-A75", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Cortex-A76", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Cortex-A76AE", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Cortex-A77", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Cortex-A78", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Cortex-A78AE", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Cortex-A78C", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Cortex-A8", Arch{Major: 7, Profile: 'A'}},
	{"Cortex-A9", Arch{Major: 7, Profile: 'A'}},
	{"Cortex-M0", Arch{Major: 6, Profile: 'M'}},
	{"Cortex-M0+", Arch{Major: 6, Profile: 'M'}},
	{"Cortex-M1", Arch{Major: 6, Profile: 'M'}},
	{"Cortex-M23", Arch{Major: 8, Profile: 'M'}},
	{"Cortex-M3", Arch{Major: 7, Profile: 'M'}},
	{"Cortex-M33", Arch{Major: 8, Profile: 'M'}},
	{"Cortex-M35P", Arch{Major: 8, Profile: 'M'}},
	{"Cortex-M4", Arch{Major: 7, Profile: 'M'}},
	{"Cortex-M52", Arch{Major: 8, Minor: 1, Profile: 'M'}},
	{"Cortex-M55", Arch{Major: 8, Minor: 1, Profile: 'M'}},
	{"Cortex-M7", Arch{Major: 7, Profile: 'M'}},
	{"Cortex-M85", Arch{Major: 8, Minor: 1, Profile: 'M'}},
	{"Cortex-R4", Arch{Major: 7, Profile: 'R'}},
	{"Cortex-R5", Arch{Major: 7, Profile: 'R'}},
	{"Cortex-R52", Arch{Major: 8, Profile: 'R'}},
	{"Cortex-R52+", Arch{Major: 8, Profile: 'R'}},
	{"Cortex-R7", Arch{Major: 7, Profile: 'R'}},
	{"Cortex-R8", Arch{Major: 7, Profile: 'R'}},
	{"Cortex-R82", Arch{Major: 8, Minor: 4, Profile: 'R'}},
	{"Cortex-X1", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Cortex-X1C", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Cortex-X2", Arch{Major: 9, Profile: 'A'}},
	{"Cortex-X3", Arch{Major: 9, Profile: 'A'}},
	{"Cortex-X4", Arch{Major: 9, Minor: 2, Profile: 'A'}},
	{"Cortex-X925", Arch{Major: 9, Minor: 2, Profile: 'A'}},
	{"Neoverse-E1", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Neoverse-N1", Arch{Major: 8, Minor: 2, Profile: 'A'}},
	{"Neoverse-N2", Arch{Major: 9, Profile: 'A'}},
	{"Neoverse-N3", Arch{Major: 9, Minor: 2, Profile: 'A'}},
	{"Neoverse-V1", Arch{Major: 8, Minor: 4, Profile: 'A'}},
	{"Neoverse-V2", Arch{Major: 9, Profile: 'A'}},
	{"Neoverse-V3", Arch{Major: 9, Minor: 2, Profile: 'A'}},
}

// ArchOf returns the architecture of a core by its name. That is the name of a
// product ("Cortex-A53"), or says the architecture itself: ARMvM[.m]-P
// ("ARMv8.1-M") and ARM-AA64[-P], P being A, R or M.
func ArchOf(name string) (Arch, bool) {
	i, ok := slices.BinarySearchFunc(cores, name, func(c core, s string) int { return strings.Compare(c.name, s) })
	if ok {
		return cores[i].arch, true
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
