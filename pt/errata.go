package pt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/pt/internal/defects"
)

// Model names a processor by CPUID.01H:EAX: the display family and model, and
// the stepping. The zero value is an unknown processor, taken to have no errata.
type Model struct {
	Family, Model, Stepping uint16
}

// String returns the form that ParseModel reads.
func (m Model) String() string {
	return fmt.Sprintf("%d/%d/%d", m.Family, m.Model, m.Stepping)
}

// ParseModel reads FAMILY/MODEL or FAMILY/MODEL/STEPPING. Each is a number below 65536,
// decimal or, with 0x in front, hexadecimal: 6/94/3, 6/0x5e. An error says which is not.
func ParseModel(s string) (Model, error) {
	fields := strings.Split(s, "/")
	if len(fields) < 2 || len(fields) > 3 {
		return Model{}, fmt.Errorf("CPU model %q: need FAMILY/MODEL or FAMILY/MODEL/STEPPING", s)
	}
	var n [3]uint16
	for i, f := range fields {
		v, err := strconv.ParseUint(f, 0, 16)
		if err != nil {
			return Model{}, fmt.Errorf("CPU model %q: %q is no number below 65536", s, f)
		}
		n[i] = uint16(v)
	}
	return Model{n[0], n[1], n[2]}, nil
}

// BadPackets names the known defects of m by which bytes of its trace are no packets, each
// with what it does. The Decoder works around them.
func (m Model) BadPackets() (list []string) {
	e := Config{Model: m}.errata()
	if e.SKD007 {
		list = append(list, "SKD007: an overflow packet inside of a cycle count")
	}
	if e.SKZ84 {
		list = append(list, "SKZ84: a stray byte behind a guest's TMA packet")
	}
	return list
}

// errata are the defects of a processor's trace that decoding must know of.
type errata = defects.Errata

// errata returns the defects of c's processor.
func (c Config) errata() errata { return defects.Of(c.Model.Family, c.Model.Model) }
