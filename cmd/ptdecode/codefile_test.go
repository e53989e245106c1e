package main

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
)

// TestParseCodeFile would catch a file's name cut at its own @, and a bad address
// taken for part of the name.
func TestParseCodeFile(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want decoder.CodeFile
		bad  bool
	}{
		{in: "kcore", want: decoder.CodeFile{Path: "kcore"}},
		{in: "raw@ffffffffc0000000", want: decoder.CodeFile{Path: "raw", Addr: 0xffffffffc0000000}},
		{in: "raw@0x1000", want: decoder.CodeFile{Path: "raw", Addr: 0x1000}},
		{in: "a@b@10", want: decoder.CodeFile{Path: "a@b", Addr: 0x10}},
		{in: "me@example/kcore", want: decoder.CodeFile{Path: "me@example/kcore"}},
		{in: "raw@", bad: true}, {in: "@10", bad: true}, {in: "", bad: true}, {in: "raw@11112222333344445", bad: true},
	} {
		a, err := parseCodeFile(tt.in)
		if (err != nil) != tt.bad || err == nil && a != tt.want {
			t.Errorf("%q: %+v, %v; want %+v", tt.in, a, err, tt.want)
		}
	}
}
