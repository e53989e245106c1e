package pt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Packets of the tests. IPs are sent whole unless a test is about their forms.

func ipPacket(k Kind, ip uint64) Packet { return Packet{Kind: k, Arg: 6, Value: ip} }
func tip(ip uint64) Packet              { return ipPacket(TIP, ip) }
func fup(ip uint64) Packet              { return ipPacket(FUP, ip) }
func pge(ip uint64) Packet              { return ipPacket(PGE, ip) }
func pgd(ip uint64) Packet              { return ipPacket(PGD, ip) }
func none(k Kind) Packet                { return Packet{Kind: k} }
func val(k Kind, v uint64) Packet       { return Packet{Kind: k, Value: v} }
func ipForm(k Kind, f uint16, v uint64) Packet {
	return Packet{Kind: k, Arg: f, Value: v}
}

// tnt makes a TNT of results t and n, short if it fits.
func tnt(s string) Packet {
	p := Packet{Kind: TNTShort, N: uint8(len(s))}
	for _, c := range s {
		p.Value <<= 1
		if c == 't' {
			p.Value |= 1
		}
	}
	if p.N > 6 || p.N == 0 {
		p.Kind = TNTLong
	}
	return p
}

// withIP sets the bit that says a FUP follows.
func withIP(p Packet) Packet { p.Flag = true; return p }

// psbAt is a PSB+ with tracing on at ip.
func psbAt(ip uint64, more ...Packet) []Packet {
	return append(append([]Packet{none(PSB), fup(ip)}, more...), none(PSBEND))
}

// psbOff is a PSB+ with tracing off.
func psbOff(more ...Packet) []Packet {
	return append(append([]Packet{none(PSB)}, more...), none(PSBEND))
}

func encode(packets ...Packet) []byte {
	var b []byte
	for _, p := range packets {
		b = p.Append(b)
	}
	return b
}

// whole is the segment that is all of buf.
func whole(buf []byte) event.Segment {
	return event.Segment{End: int64(len(buf)), Buf: buf, Time: event.Always, Last: true}
}

// show renders an event without its place and time.
func show(e *event.Event) string {
	var b strings.Builder
	add := func(format string, v ...any) { fmt.Fprintf(&b, " "+format, v...) }
	if b.WriteString(e.Kind.String()); e.Detail != 0 {
		add("%v", e.Detail)
	}
	if e.Kind == event.Outcomes {
		for i := range e.N {
			if i == 0 {
				b.WriteByte(' ')
			}
			b.WriteByte("nt"[e.Value>>(63-i)&1])
		}
		return b.String()
	}
	if e.Kind == event.Async || e.Kind == event.AsyncDisable {
		add("from %x", e.From)
	}
	if e.HasIP() {
		add("ip %x", e.IP)
	}
	if e.Flags&event.FlagMode != 0 {
		add("%v", isa.Mode(e.Mode))
	}
	if e.Flags&event.FlagCR3 != 0 {
		add("cr3 %x/%d", e.Value, e.Value2)
	} else if e.Value != 0 || e.Value2 != 0 {
		add("%x,%x", e.Value, e.Value2)
	}
	for f, s := range map[event.Flags]string{event.FlagAbort: "abort", event.FlagBreak: "break",
		event.FlagIntr: "intr", event.FlagNextIP: "nextip", event.FlagRestated: "restated"} {
		if e.Flags&f != 0 {
			add("%s", s)
		}
	}
	if e.Reason != 0 {
		add("%v", e.Reason)
	}
	return b.String()
}

// decode returns what d makes of seg, and fails where offsets fall, times
// cross or events do not end.
func decode(t *testing.T, c Config, seg event.Segment) []event.Event {
	t.Helper()
	d := NewDecoder(c, seg)
	var got []event.Event
	var e event.Event
	off := seg.Off
	for d.Next(&e) {
		if e.Off < off || e.End < e.Off || e.Time.Lo > e.Time.Hi || e.Kind == event.KindNone {
			t.Fatalf("after offset %#x: %+v", off, e)
		}
		off = e.Off
		got = append(got, e)
		if len(got) > 10*len(seg.Buf)+10 {
			t.Fatal("events without end")
		}
	}
	return got
}

type situation struct {
	name    string // and what would be wrong if it failed
	config  Config
	packets []Packet
	want    []string
}

// run checks situations: each is a stream of one segment. The stream's End is
// left out of want.
func run(t *testing.T, cases []situation) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.config.Ahead = true
			var got []string
			events := decode(t, c.config, whole(encode(c.packets...)))
			for i := range events {
				got = append(got, show(&events[i]))
			}
			if n := len(got); n == 0 || got[n-1] != "end" {
				t.Errorf("does not end with the stream's end: %q", got)
			} else {
				got = got[:n-1]
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("events, -want +got:\n%s", d)
			}
		})
	}
}

func list(p []Packet, more ...Packet) []Packet { return append(p, more...) }

// TestFlow: the plain packets of the flow. It would catch results in the wrong
// order, IPs expanded against the wrong register, and a TIP that loses what
// was stated with it.
func TestFlow(t *testing.T) {
	const k = 0xffffffff81000000
	run(t, []situation{
		{"tnt side by side is one event", Config{},
			list(psbAt(0x1000), tnt("tn"), none(PAD), tnt("nnt"), tnt("ttttttttnn"), tip(0x2000), tnt("n")),
			[]string{"sync ip 1000", "outcomes tnnntttttttttnn", "target ip 2000", "outcomes n"}},
		{"no more than 64 results are one event", Config{},
			list(psbAt(0x1000), tnt(strings.Repeat("t", 47)), tnt("nnnnnn"), tnt("tttttt"), tnt("nnnnn"), tnt("t")),
			[]string{"sync ip 1000", "outcomes " + strings.Repeat("t", 47) + "nnnnnnttttttnnnnn", "outcomes t"}},
		{"a tnt without results says nothing", Config{},
			list(psbAt(0x1000), tnt(""), tip(0x2000)),
			[]string{"sync ip 1000", "target ip 2000"}},
		{"a timing packet parts outcomes", Config{},
			list(psbAt(0x1000), tnt("t"), val(MTC, 1), tnt("n")),
			[]string{"sync ip 1000", "outcomes t", "outcomes n"}},
		{"every form of ip", Config{},
			list(psbAt(k), ipForm(TIP, 1, 0x1234), ipForm(TIP, 2, 0x82345678), ipForm(TIP, 3, 0x800000000000),
				ipForm(TIP, 4, 0x123456789abc), ipForm(TIP, 6, k+8), ipForm(TIP, 0, 0), ipForm(TIP, 1, 0xcafe)),
			[]string{"sync ip ffffffff81000000", "target ip ffffffff81001234", "target ip ffffffff82345678",
				"target ip ffff800000000000", "target ip ffff123456789abc", "target ip ffffffff81000008",
				"target", "target ip ffffffff8100cafe"}},
		{"one last ip for all kinds of ip packets", Config{},
			list(psbAt(k), ipForm(PGD, 1, 0x1111), ipForm(PGE, 1, 0x2222), ipForm(FUP, 2, 0x81993333), ipForm(TIP, 1, 0x4444)),
			[]string{"sync ip ffffffff81000000", "disable ip ffffffff81001111", "enable ip ffffffff81002222",
				"async from ffffffff81993333 ip ffffffff81994444"}},
		{"psb sets the last ip to zero", Config{},
			append(list(psbAt(k), tip(k+0x100)), list([]Packet{none(PSB), ipForm(FUP, 1, 0x4000), none(PSBEND)}, ipForm(TIP, 1, 0x10))...),
			[]string{"sync ip ffffffff81000000", "target ip ffffffff81000100", "sync ip 4000 restated", "target ip 10"}},
		{"mode and pip with a tip", Config{},
			list(psbAt(0x1000), val(PIP, 0x1234<<1|1), val(ModeExec, 2), tip(0x2000), tip(0x3000)),
			[]string{"sync ip 1000", "context cr3 24680,1", "target ip 2000 x86-32 cr3 24680/1", "target ip 3000"}},
		{"a pip that the code binds is not carried on", Config{},
			list(psbAt(0x1000), val(PIP, 0x1234<<1), tnt("t"), tip(0x2000)),
			[]string{"sync ip 1000", "context cr3 24680,0", "outcomes t", "target ip 2000"}},
		{"enable and disable with mode and pip, ip or none", Config{},
			list(psbOff(), val(PIP, 2), val(ModeExec, 1), pge(0x2000), ipForm(PGD, 0, 0), pge(0x2010), pgd(0x9000)),
			[]string{"sync", "context cr3 20,0", "enable ip 2000 x86-64 cr3 20/0", "disable", "enable ip 2010", "disable ip 9000"}},
		{"vmcs and tracestop", Config{},
			list(psbAt(0x1000), val(VMCS, 0x1234), pgd(0x2000), none(TraceStop)),
			[]string{"sync ip 1000", "context vmcs 1234000,0", "disable ip 2000", "payload tracestop"}},
	})
}

// TestSync: what a PSB+ states. It would catch state that is lost, taken for a
// change, or believed where the hardware is known to err.
func TestSync(t *testing.T) {
	skylake := Config{Model: Model{6, 94, 3}}
	bdm70 := []Packet{none(PSB), val(ModeExec, 1), fup(0x1000), none(PSBEND), val(CBR, 9), ipForm(PGE, 1, 0x1008)}
	run(t, []situation{
		{"all that a psb+ may hold", Config{},
			append([]Packet{none(PSB), val(TSC, 7), val(PIP, 0x10<<1|1), val(VMCS, 1), val(ModeTSX, 1), val(ModeExec, 0),
				val(CBR, 30), fup(0x1000), none(PSBEND)}, tnt("t")),
			[]string{"sync ip 1000 x86-16 cr3 200/1", "context tx-state 1,0", "context vmcs 1000,0", "payload cbr 1e,0", "outcomes t"}},
		{"tracing is off without a fup", Config{}, psbOff(val(CBR, 9)), []string{"sync", "payload cbr 9,0"}},
		{"a fup without ip is none", Config{}, append([]Packet{none(PSB), ipForm(FUP, 0, 0), none(PSBEND)}, pge(0x10)),
			[]string{"sync", "enable ip 10"}},
		{"a later psb+ restates", Config{}, append(list(psbAt(0x1000), tnt("t")), psbAt(0x1010)...),
			[]string{"sync ip 1000", "outcomes t", "sync ip 1010 restated"}},
		{"overflow ends a psb+", Config{},
			[]Packet{none(PSB), val(TSC, 1), none(OVF), fup(0x2000), tnt("t")},
			[]string{"sync", "overflow ip 2000", "outcomes t"}},
		{"a flow packet has no place in a psb+", Config{}, []Packet{none(PSB), fup(0x1000), tnt("t"), none(PSBEND)},
			[]string{"sync ip 1000", "trouble bad-packet", "outcomes t", "trouble bad-packet"}},
		{"BDM70: no fup is believed before an enable", skylake, bdm70, []string{"sync x86-64", "payload cbr 9,0", "enable ip 1008"}},
		{"BDM70 on another processor is trouble", Config{}, bdm70,
			[]string{"sync ip 1000 x86-64", "payload cbr 9,0", "trouble bad-packet", "enable ip 1008"}},
		{"BDM70 but tracing is on", skylake, list(psbAt(0x1000), val(CBR, 9), tnt("t"), pgd(1), pge(2)),
			[]string{"sync ip 1000", "payload cbr 9,0", "outcomes t", "disable ip 1", "enable ip 2"}},
	})
}

// TestAsync: FUP and what it belongs to. It would catch a FUP given to the
// wrong packet, a lost cause of an exception, and order changed by waiting.
func TestAsync(t *testing.T) {
	intr := func(typ uint64, vector uint16) Packet { return Packet{Kind: CFE, Value: typ, Arg: vector} }
	run(t, []situation{
		{"interrupt", Config{}, list(psbAt(0x1000), tnt("t"), fup(0x1010), tip(0x9000), tnt("n")),
			[]string{"sync ip 1000", "outcomes t", "async from 1010 ip 9000", "outcomes n"}},
		{"interrupt with everything in between", Config{},
			list(psbAt(0x1000), fup(0x1010), val(TSC, 5), val(PIP, 2), val(CBR, 8), none(PAD), val(VMCS, 3), val(ModeExec, 1), val(MTC, 1), tip(0x9000)),
			[]string{"sync ip 1000", "async from 1010 ip 9000 x86-64 cr3 20/0", "payload cbr 8,0", "context vmcs 3000,0"}},
		{"interrupt out of the traced code, where no fup belongs", Config{}, list(psbAt(0x1000), fup(0x1010), ipForm(PGD, 0, 0), fup(0x1), pge(0x1010)),
			[]string{"sync ip 1000", "async-disable from 1010", "trouble bad-packet", "enable ip 1010"}},
		{"interrupt to a known place that is not traced", Config{}, list(psbAt(0x1000), fup(0x1010), pgd(0x9000)),
			[]string{"sync ip 1000", "async-disable from 1010 ip 9000"}},
		{"breakpoint told by event trace", Config{}, list(psbAt(0x1000), intr(1, 3), fup(0x1010), tip(0x9000), fup(0x9000), tip(0xa000)),
			[]string{"sync ip 1000", "payload cfe 1,3", "async from 1010 ip 9000 break", "async from 9000 ip a000"}},
		{"breakpoint as software interrupt", Config{}, list(psbAt(0x1000), intr(14, 3), fup(0x1010), tip(0x9000)),
			[]string{"sync ip 1000", "payload cfe e,3", "async from 1010 ip 9000 break"}},
		{"page fault told by event trace", Config{},
			list(psbAt(0x1000), Packet{Kind: EVD, Value: 0xdead}, intr(1, 14), fup(0x1010), tip(0x9000)),
			[]string{"sync ip 1000", "payload evd dead,0", "payload cfe 1,e", "async from 1010 ip 9000 intr"}},
		{"iret says nothing of the next interrupt", Config{},
			list(psbAt(0x1000), intr(2, 0), tip(0x2000), fup(0x2000), tip(0x9000)),
			[]string{"sync ip 1000", "payload cfe 2,0", "target ip 2000", "async from 2000 ip 9000"}},
		{"cfe with its own fup", Config{}, list(psbAt(0x1000), intr(0x80|1, 3), fup(0x1010), tip(0x9000), fup(0x9000), tip(1)),
			[]string{"sync ip 1000", "status cfe ip 1010 1,3", "target ip 9000", "async from 9000 ip 1"}},
		{"interrupts enabled in place", Config{}, list(psbAt(0x1000), val(ModeExec, 5), fup(0x1010), tnt("t")),
			[]string{"sync ip 1000", "status mode ip 1010 x86-64 1,1", "outcomes t"}},
		{"a mode with an interrupt belongs to its tip", Config{}, list(psbAt(0x1000), fup(0x1010), val(ModeExec, 1), tip(0x9000)),
			[]string{"sync ip 1000", "async from 1010 ip 9000 x86-64"}},
		{"next ip of 6/92", Config{Model: Model{6, 92, 0}}, list(psbAt(0x1000), fup(0x1010), tip(0x9000)),
			[]string{"sync ip 1000", "async from 1010 ip 9000 nextip"}},
		{"fup without its tip", Config{}, list(psbAt(0x1000), fup(0x1010), tnt("t"), tip(0x2000)),
			[]string{"sync ip 1000", "overflow ip 1010", "outcomes t", "target ip 2000"}},
		{"fup without its tip, later", Config{}, list(psbAt(0x1000), tnt("t"), fup(0x1010), tnt("t"), tip(0x2000)),
			[]string{"sync ip 1000", "outcomes t", "trouble bad-packet", "outcomes t", "target ip 2000"}},
		{"fup without ip", Config{}, list(psbAt(0x1000), tnt("t"), ipForm(FUP, 0, 0), tip(0x2000)),
			[]string{"sync ip 1000", "outcomes t", "trouble bad-packet", "target ip 2000"}},
		{"the stream ends inside an interrupt", Config{}, list(psbAt(0x1000), tnt("t"), fup(0x1010)),
			[]string{"sync ip 1000", "outcomes t", "status ip 1010"}},
	})
}
