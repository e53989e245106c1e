package view

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// luminance is a colour's relative luminance, as WCAG 2.1 defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil || len(hex) != 7 {
		t.Fatalf("%q is no colour", hex)
	}
	part := func(shift int) float64 {
		x := float64(n>>shift&0xff) / 255
		if x <= 0.03928 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

// TestContrast would catch text too pale to read, and marks too pale to see, in the light
// and in the dark. WCAG 2.1 asks for a contrast of 4.5 (1.4.3) and of 3 (1.4.11). It would
// catch a colour of text that is not in its table, too.
func TestContrast(t *testing.T) {
	b, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		t.Fatal(err)
	}
	style := string(b)
	texts := map[string][]string{
		"ink": {"back", "panel", "mark", "changed"}, "dim": {"back", "panel", "mark"}, "link": {"back", "panel", "mark"}, "gap": {"back", "mark"}, "trap": {"back", "mark"},
		"unsure": {"back", "mark"}, "callink": {"call", "call1", "call2", "call3", "call4"}, "old": {"panel"}, "new": {"panel"},
	}
	marks := map[string][]string{
		"sure": {"panel"}, "unsure": {"panel"}, "gap": {"panel"}, "trap": {"panel"}, "learned": {"panel"}, "poke": {"back", "window"}, "focus": {"back", "panel"}, "old": {"back"}, "new": {"back"},
	}
	for _, m := range regexp.MustCompile(`[{; ]color: ([^;]+);`).FindAllStringSubmatch(style, -1) {
		name := regexp.MustCompile(`var\(--(\w+)\)|inherit`).FindStringSubmatch(m[1])
		if name == nil || name[1] != "" && texts[name[1]] == nil {
			t.Errorf("text of colour %s: nothing says what it stands on", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\n[^{]*\btext[^{]*{ fill: var\(--(\w+)\)`).FindAllStringSubmatch(style, -1) {
		if texts[m[1]] == nil {
			t.Errorf("text of colour %s: nothing says what it stands on", m[1])
		}
	}
	for _, theme := range []string{":root {", `:root[data-theme="dark"] {`} {
		_, body, _ := strings.Cut(style, theme)
		body, _, _ = strings.Cut(body, "}")
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--(\w+): (#[0-9a-f]{6});`).FindAllStringSubmatch(body, -1) {
			colours[m[1]] = m[2]
		}
		for _, x := range []struct {
			pairs map[string][]string
			least float64
		}{{texts, 4.5}, {marks, 3}} {
			var bad []string
			for ink, backs := range x.pairs {
				for _, back := range backs {
					a, b := luminance(t, colours[ink]), luminance(t, colours[back])
					if c := (max(a, b) + 0.05) / (min(a, b) + 0.05); c < x.least {
						bad = append(bad, fmt.Sprintf("%s on %s: %.2f, want %.1f", ink, back, c, x.least))
					}
				}
			}
			slices.Sort(bad)
			for _, s := range bad {
				t.Errorf("%s %s", theme, s)
			}
		}
	}
}
