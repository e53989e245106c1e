package output

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/rows"
)

// TestParseFields would catch fields in another order than asked for, and +x
// and -x that do not start from the defaults.
func TestParseFields(t *testing.T) {
	def := []Field{CPU, Time, IP, mark}
	for spec, want := range map[string][]Field{
		"":             def,
		"cpu,ip":       {CPU, IP},
		"ip,cpu":       {IP, CPU},
		"ip,cpu,ip":    {IP, CPU},
		"+sym":         {CPU, Time, IP, mark, Sym},
		"-time":        {CPU, IP, mark},
		"-time,+sym":   {CPU, IP, mark, Sym},
		"+cpu":         def,
		"-time,-time":  {CPU, IP, mark},
		"verdict":      {Verdict},
		"+sym,-sym":    def,
		"-ip,+ip,+sym": {CPU, Time, mark, IP, Sym},
	} {
		got, err := ParseFields(spec, def)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseFields(%q) = %v, %v; want %v", spec, got, err, want)
		}
	}
	for _, spec := range []string{"mark", "x", "cpu,,ip", "cpu,+ip", "+cpu,ip", "-cpu,-time,-ip", ","} {
		if got, err := ParseFields(spec, def); err == nil {
			t.Errorf("ParseFields(%q) = %v, want an error", spec, got)
		}
	}
}

// TestFieldsAreTold would catch a field without a name or without help.
func TestFieldsAreTold(t *testing.T) {
	help := FieldHelp()
	for f := Time; f < numFields; f++ {
		if f.String() == "" || fieldHelp[f] == "" || !strings.Contains(help, "  "+f.String()+" ") {
			t.Errorf("field %d: name %q, help %q", f, f, fieldHelp[f])
		}
	}
	for _, name := range rows.LevelNames() {
		l, err := rows.ParseLevel(name)
		if err != nil || l.String() != name {
			t.Errorf("ParseLevel(%q) = %v, %v", name, l, err)
		}
		for _, f := range FormatNames() {
			if len(FormatNamed(f).Defaults(l)) == 0 {
				t.Errorf("level %v has no default fields in %s", l, f)
			}
		}
	}
}
