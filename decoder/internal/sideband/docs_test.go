package sideband

import (
	"bufio"
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/kcore"
)

// TestEventsDocumented would catch a field, type or scheme of the event stream
// that docs/formats/events.md does not have, and an example there that does
// not read or is not written so.
func TestEventsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/formats/events.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		TypeStream, TypePoke, TypeKsymbol, TypeBPF, TypeText, TypeMmap, TypeComm, TypeFork, TypeExit, TypeSwitch,
		TypeNamespaces, TypeCgroup, TypeLost, TypeLostSamples, TypeAux, TypeAuxtrace, TypeItraceStart, TypeHwID,
		TypeTraceError, TypeTraceConfig, TypeAttr, TypeTimeConv, TypeCPUModel, TypeMeta, TypeBuildID, TypeAuxLoss, TypeBreakEntry, TypeRaw,
	}
	f := reflect.TypeFor[Fields]()
	for i := range f.NumField() {
		want = append(want, fieldName(f.Field(i)))
	}
	for s := kcore.SchemeNone; s.String() != "?"; s++ {
		want = append(want, s.String())
	}
	for _, w := range want {
		if !bytes.Contains(doc, []byte("`"+w+"`")) {
			t.Errorf("events.md does not have `%s`", w)
		}
	}
	examples := 0
	for in := bufio.NewScanner(bytes.NewReader(doc)); in.Scan(); {
		if !strings.HasPrefix(in.Text(), "{\"type\"") {
			continue
		}
		examples++
		es, err := readAll(in.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := es[0].Poke(); err != nil {
			t.Error(err)
		}
		line, err := Append(nil, &es[0])
		if err != nil || string(line) != in.Text()+"\n" {
			t.Errorf("written %s, %v\nin the page %s", line, err, in.Text())
		}
	}
	if examples < 3 {
		t.Errorf("%d examples", examples)
	}
}
