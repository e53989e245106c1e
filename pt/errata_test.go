package pt

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestModel would catch a model string read wrongly and an erratum given to the
// wrong processor.
func TestModel(t *testing.T) {
	for s, want := range map[string]Model{"6/94": {6, 94, 0}, "6/94/3": {6, 94, 3}, "6/0x5e/3": {6, 94, 3}} {
		if got, err := ParseModel(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "6", "6/x", "6/94/3/1", "6/-1", "6/65536", "6/"} {
		if m, err := ParseModel(s); err == nil {
			t.Errorf("%q: %v", s, m)
		}
	}
	has := func(f, m uint16) errata { return Config{Model: Model{f, m, 0}}.errata() }
	for _, c := range []struct {
		name string
		got  errata
		want errata
	}{
		{"unknown", has(0, 0), errata{}},
		{"Broadwell", has(6, 0x3d), errata{BDM70: true, BDM64: true}},
		{"Skylake", has(6, 94), errata{BDM70: true, SKD007: true, SKD010: true, SKD022: true, SKL014: true, SKL168: true}},
		{"Skylake server", has(6, 0x55), errata{BDM70: true, SKD022: true, SKL014: true, SKZ84: true}},
		{"Sapphire Rapids", has(6, 0x8f), errata{BDM70: true, SKD022: true, SKZ84: true}},
		{"Tiger Lake", has(6, 0x8c), errata{BDM70: true, SKD022: true, SKL014: true}},
		{"Alder Lake", has(6, 0x97), errata{BDM70: true, SKD022: true, APL11: true}},
		{"Goldmont", has(6, 92), errata{APL11: true, APL12: true, NextIP: true}},
		{"Denverton", has(6, 0x5f), errata{APL11: true, APL12: true}},
		{"Tremont", has(6, 0x86), errata{APL11: true}},
		{"the same model number, another family", has(15, 94), errata{}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
		}
	}
}

// TestSKZ84 would catch a stray byte taken for a packet, a good TMA dropped, or
// a corrupt one believed where no stray byte follows.
func TestSKZ84(t *testing.T) {
	c := Config{Model: Model{6, 0x55, 0}}
	tma := Packet{Kind: TMA, Value: 1, Extra: 0x0100}
	run(t, []situation{
		{"corrupt", c, list(psbAt(0x1000), tma, tnt("ttnnt"), tip(1)), []string{"sync ip 1000", "target ip 1"}},
		{"good", c, list(psbAt(0x1000), val(TMA, 1), tnt("ttnnt"), tip(1)), []string{"sync ip 1000", "outcomes ttnnt", "target ip 1"}},
		{"another processor", Config{}, list(psbAt(0x1000), tma, tnt("ttnnt"), tip(1)), []string{"sync ip 1000", "trouble bad-packet"}},
	})
}

// TestErrataTable holds the documentation's table of errata against the code.
// It would catch a processor that one of them lacks.
func TestErrataTable(t *testing.T) {
	doc, err := os.ReadFile("../docs/formats/intel-pt-decoding.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "\n## Errata\n")
	table, _, _ = strings.Cut(table, "\n## ")
	listed := map[string][]string{} // models by erratum, "6/94"
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "name" {
			continue
		}
		name, family := strings.TrimSpace(cells[1]), uint64(6)
		if cells[2] == " the same " {
			listed[name] = listed["SKD007"]
			continue
		}
		if cells[2] == " as BDM70 but 3d 47 4f 56 " {
			for _, m := range listed["BDM70"] {
				if !slices.Contains(listed["BDM64"], m) && !slices.Contains([]string{"6/61", "6/71", "6/79", "6/86"}, m) {
					listed[name] = append(listed[name], m)
				}
			}
			continue
		}
		for _, w := range strings.FieldsFunc(cells[2], func(r rune) bool { return strings.ContainsRune(" ,;:", r) }) {
			if f, ok := strings.CutSuffix(w, "h"); ok {
				family, _ = strconv.ParseUint(f, 16, 16)
			} else if m, err := strconv.ParseUint(w, 16, 16); err == nil {
				listed[name] = append(listed[name], fmt.Sprintf("%d/%d", family, m))
			}
		}
	}
	for f := range uint16(0x20) {
		for m := range uint16(0x100) {
			e := Config{Model: Model{f, m, 0}}.errata()
			for name, has := range map[string]bool{
				"BDM70": e.BDM70, "SKD007": e.SKD007, "SKD010": e.SKD010, "SKL168": e.SKL168, "SKZ84": e.SKZ84, "APL11": e.APL11,
				"APL12": e.APL12, "NextIP": e.NextIP, "BDM64": e.BDM64, "SKD022": e.SKD022, "SKL014": e.SKL014,
			} {
				if doc := slices.Contains(listed[name], fmt.Sprintf("%d/%d", f, m)); doc != has {
					t.Errorf("%s on %d/%d: %v, the table says %v", name, f, m, has, doc)
				}
			}
		}
	}
}

// TestRules would catch a fact of the configuration or the processor that the
// walker is not told.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		c                             Config
		outcomes, entry, abort, compr bool
	}{
		{Config{}, true, false, false, true},
		{Config{NoTNT: true, NoRETComp: true}, false, false, false, false},
		{Config{Model: Model{6, 0x3d, 4}}, true, false, true, true},
		{Config{Model: Model{6, 0x5e, 3}}, true, true, false, true},
	} {
		r := c.c.Rules()
		if r.NoOutcomes == c.outcomes || r.EntrySource != c.entry || r.AbortElsewhere != c.abort ||
			(r.Returns == isa.ReturnsCompressed) != c.compr || r.Stack != 64 || r.Waypoints != isa.Set(isa.Cond) {
			t.Errorf("%+v: %+v", c.c, r)
		}
	}
}
