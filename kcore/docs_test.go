package kcore

import (
	"bufio"
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestEventsDocumented would catch a field, type or scheme of the event stream
// that docs/formats/events.md does not have, and an example there that does
// not read or is not written so.
func TestEventsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/formats/events.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		EventStream, EventPoke, EventKsymbol, EventBPF, EventText, EventMmap, EventComm, EventFork, EventExit, EventSwitch,
		EventNamespaces, EventCgroup, EventLost, EventLostSamples, EventAux, EventAuxtrace, EventItraceStart, EventHwID,
		EventTraceError, EventTraceConfig, EventAttr, EventTimeConv, EventCPUModel, EventMeta, EventBuildID, EventAuxLoss, EventBreakEntry, EventRecord,
	}
	f := reflect.TypeFor[StreamFields]()
	for i := range f.NumField() {
		want = append(want, fieldName(f.Field(i)))
	}
	for s := SchemeNone; s.String() != "?"; s++ {
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
		line, err := AppendEvent(nil, &es[0])
		if err != nil || string(line) != in.Text()+"\n" {
			t.Errorf("written %s, %v\nin the page %s", line, err, in.Text())
		}
	}
	if examples < 3 {
		t.Errorf("%d examples", examples)
	}
}
