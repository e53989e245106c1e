package decoder

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// toyMode is the mode of the toy instruction set. No other has it.
const toyMode = isa.NumModes + 3

// toySet is an instruction set of three instructions, 2 bytes each: what it is, and
// how far it jumps, counted in bytes from its own address.
var toySet = &stream.InstructionSet{
	Name: "toy", Modes: []isa.Mode{toyMode}, Decoder: toyISA{},
	Format: func(code []byte, addr uint64, _ isa.Mode, _ func(uint64) (string, uint64)) string {
		return fmt.Sprintf("%c %#x", code[0], addr+uint64(int8(code[1])))
	},
}

type toyISA struct{}

// Decode reads an instruction: "." goes on, "?" jumps if so, "*" jumps anywhere.
func (toyISA) Decode(in *isa.Insn, code []byte, addr uint64, m isa.Mode) isa.Status {
	*in = isa.Insn{Len: 2}
	switch {
	case m != toyMode:
		return isa.Bad
	case len(code) < 2:
		return isa.Short
	case code[0] == '?':
		in.Class, in.Target = isa.Cond, addr+uint64(int8(code[1]))
	case code[0] == '*':
		in.Class = isa.JumpInd
	case code[0] != '.':
		return isa.Bad
	}
	return isa.OK
}

func (toyISA) MaxLen() int { return 2 }

// toyProtocol is a protocol of four packets: "@" and an address of 8 bytes is a sync
// point, "=" and an address a target, "1" and "0" are outcomes.
var toyProtocol = &stream.Protocol{
	Name: "toy", Sync: "@", SyncHint: "this is no toy", Set: toySet, Mode: toyMode, Executes: true,
	Points:  func(_ *stream.Stream, src event.Bytes, size int64) stream.Points { return &toyPoints{src, size} },
	Rules:   func(*stream.Stream) isa.Rules { return isa.Rules{Waypoints: isa.Set(isa.Cond)} },
	Events:  func(*stream.Stream, bool) stream.Decoder { return &toyEvents{} },
	Packets: func(*stream.Stream) stream.PacketLister { return nil },
}

// toyPoints finds the sync points of a toy stream.
type toyPoints struct {
	src  event.Bytes
	size int64
}

func (p *toyPoints) First() int64 {
	if s, ok := p.Next(0, p.size); ok {
		return s.Off
	}
	return p.size
}

func (p *toyPoints) Next(from, until int64) (s event.SyncPoint, ok bool) {
	i := bytes.IndexByte(p.src.Bytes(from, until-from), '@')
	return event.SyncPoint{Off: from + int64(i)}, i >= 0
}

// toyEvents reads the packets of a segment.
type toyEvents struct {
	seg event.Segment
	at  int64 // of seg.Buf
}

func (d *toyEvents) Reset(seg event.Segment) { d.seg, d.at = seg, 0 }

func (d *toyEvents) Next(e *event.Event) bool {
	if d.at >= d.seg.End-d.seg.Off {
		return false
	}
	b := d.seg.Buf[d.at:]
	n := int64(1)
	*e = event.Event{Off: d.seg.Off + d.at, Time: event.Always}
	switch b[0] {
	case '@', '=':
		n = 9
		e.Kind, e.Flags, e.IP = event.Target, event.FlagIP, binary.LittleEndian.Uint64(b[1:])
		if b[0] == '@' {
			e.Kind = event.Sync
		}
	default:
		e.Kind, e.N, e.Value = event.Outcomes, 1, uint64(b[0]-'0')<<63
	}
	d.at += n
	e.End = e.Off + n
	return true
}

// TestToyProtocol would catch a place that asks which protocol a stream has, or
// which instruction set its core executes, outside of their rows. It decodes a flow
// with rows of its own, which nothing else in the tree knows.
func TestToyProtocol(t *testing.T) {
	const base = 0x1000
	address := func(b byte, addr uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{b}, addr) }
	code := []byte{'.', 0, '?', 0xfe, '.', 0, '*', 0} // a loop of two, then away
	var trace []byte
	for range 3 { // three segments
		trace = append(trace, address('@', base)...)
		trace = append(trace, "110"...)
		trace = append(trace, address('=', base)...)
	}
	f := recording.New(&recording.Config{})
	f.Code = append(f.Code, recording.Code{Addr: base, Bytes: code})
	f.Streams = append(f.Streams, &stream.Stream{Protocol: toyProtocol, TID: -1, Size: int64(len(trace)), Data: stream.Memory(trace)})
	s, err := OpenRecording(f, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var got []string
	for r, err := range s.Ranges(context.Background(), Query{}) {
		var gap *event.Gap
		if errors.As(err, &gap) {
			t.Errorf("gap: %v", gap)
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%x-%x", r.Addr, r.End))
	}
	once := "1000-1004 1000-1004 1000-1004 1004-1008"
	if want := strings.Join([]string{once, once, once}, " "); strings.Join(got, " ") != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	if line := s.Format(code[2:], base+2, toyMode, nil); line != "? 0x1000" {
		t.Errorf("printed as %q", line)
	}
	if set, mode := s.ISA(); set != (toyISA{}) || mode != toyMode {
		t.Errorf("code that no trace leads through is read as %T, mode %d", set, mode)
	}
}
