package pt

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestOverflow: OVF and what resolves it. It would catch a flow that goes on
// over lost packets, and a restart at an IP that is another event's.
func TestOverflow(t *testing.T) {
	apl := Config{Model: Model{6, 0x5c, 0}}
	run(t, []situation{
		{"tracing goes on", Config{}, list(psbAt(0x1000), tnt("t"), none(OVF), val(MTC, 3), fup(0x2000), tnt("n")),
			[]string{"sync ip 1000", "outcomes t", "overflow ip 2000", "outcomes n"}},
		{"tracing is off", Config{}, list(psbAt(0x1000), none(OVF), val(ModeTSX, 0), val(PIP, 2), pge(0x2000), tnt("n")),
			[]string{"sync ip 1000", "overflow", "context tx-state", "context cr3 20,0", "enable ip 2000 cr3 20/0", "outcomes n"}},
		{"the last ip is kept", Config{}, list(psbAt(0xffffffff81000000), none(OVF), ipForm(FUP, 1, 0x2000)),
			[]string{"sync ip ffffffff81000000", "overflow ip ffffffff81002000"}},
		{"a psb+ before the fup is part of it", Config{},
			list(append(list(psbAt(0x1000), none(OVF)), psbOff(val(ModeExec, 1), val(PIP, 4))...), fup(0x2000), tnt("n")),
			[]string{"sync ip 1000", "overflow ip 2000 x86-64 cr3 40/0", "outcomes n"}},
		{"a psb+ with the ip before outcomes", Config{},
			list(append(list(psbAt(0x1000), none(OVF)), psbAt(0x2000)...), tnt("n")),
			[]string{"sync ip 1000", "overflow ip 2000", "outcomes n"}},
		{"a psb+ with the ip before the fup", Config{},
			list(append(list(psbAt(0x1000), none(OVF)), psbAt(0x2000, val(ModeExec, 1))...), fup(0x2000), tnt("n")),
			[]string{"sync ip 1000", "overflow ip 2000 x86-64", "outcomes n"}},
		{"SKD010: a psb+ with the ip before an interrupt", Config{},
			list(append(list(psbAt(0x1000), none(OVF)), psbAt(0x2000)...), fup(0x2010), val(PIP, 2), tip(0x9000)),
			[]string{"sync ip 1000", "overflow ip 2000", "async from 2010 ip 9000 cr3 20/0"}},
		{"a psb+ with the ip, the fup, and a target", Config{},
			list(append(list(psbAt(0x1000), none(OVF)), psbAt(0x2000)...), fup(0x2000), tip(0x9000)),
			[]string{"sync ip 1000", "overflow ip 2000", "target ip 9000"}},
		{"SKD010: a psb+ with the ip, a fup that may be an interrupt's, and a target", Config{Model: Model{6, 94, 3}},
			list(append(list(psbAt(0x1000), none(OVF)), psbAt(0x2000)...), fup(0x2000), tip(0x9000)),
			[]string{"sync ip 1000", "overflow ip 9000"}},
		{"SKD010: a psb+ with the ip before a target", Config{},
			list(append(list(psbAt(0x1000), none(OVF)), psbAt(0x2000)...), tip(0x9000)),
			[]string{"sync ip 1000", "overflow ip 2000", "target ip 9000"}},
		{"SKD010: a psb+ with the ip before the end of tracing", Config{},
			list(append(list(psbAt(0x1000), none(OVF)), psbAt(0x2000)...), pgd(0x9000)),
			[]string{"sync ip 1000", "overflow ip 2000", "disable ip 9000"}},
		{"SKD010: a fup and a target, that may be an interrupt's", Config{Model: Model{6, 94, 3}},
			list(psbAt(0x1000), none(OVF), val(MTC, 3), fup(0x2000), val(ModeExec, 1), tip(0x9000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 9000 x86-64", "outcomes t"}},
		{"a fup and a target on another processor", Config{}, list(psbAt(0x1000), none(OVF), fup(0x2000), tip(0x9000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 2000", "target ip 9000", "outcomes t"}},
		{"SKD010: a transaction begins, its fup tells where", Config{Model: Model{6, 94, 3}},
			list(psbAt(0x1000), none(OVF), val(ModeTSX, 1), fup(0x2000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 2000", "status tx-begin ip 2000", "outcomes t"}},
		{"SKD010: a transaction aborts", Config{Model: Model{6, 94, 3}},
			list(psbAt(0x1000), none(OVF), val(ModeTSX, 2), fup(0x2000), tip(0x9000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 2000", "status tx-abort ip 2000", "async from 2000 ip 9000 abort", "outcomes t"}},
		{"a transaction whose fup was lost", Config{}, list(psbAt(0x1000), none(OVF), val(ModeTSX, 1), tip(0x2000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 2000", "context tx-state 1,0", "outcomes t"}},
		{"a ptwrite whose fup was lost", Config{}, list(psbAt(0x1000), none(OVF), withIP(val(PTW, 7)), tnt("t"), fup(0x2000), tip(0x9000)),
			[]string{"sync ip 1000", "overflow ip 2000", "payload ptwrite 7,4", "async from 2000 ip 9000"}},
		{"a transaction, then the wake before the fup", Config{}, list(psbAt(0x1000), none(OVF), val(ModeTSX, 1), val(PWRX, 0x0162), fup(0x2000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 2000", "context tx-state 1,0", "payload pwrx 6,102", "outcomes t"}},
		{"a sleep, then execution stopped before the fup", Config{}, list(psbAt(0x1000), none(OVF), val(PWRE, 0x5200), none(EXSTOP), fup(0x2000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 2000", "payload pwre 5,2", "payload exstop", "outcomes t"}},
		{"an abort, then a stop before tracing is off", Config{}, list(psbAt(0x1000), none(OVF), val(ModeTSX, 2), none(TraceStop), fup(0x2000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 2000", "context tx-state", "payload tracestop", "outcomes t"}},
		{"a transaction, then one reason too many", Config{}, list(psbAt(0x1000), none(OVF), val(ModeTSX, 1), evd(2), evd(2), fup(0x2000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 2000", "context tx-state 1,0", "payload evd 7,2", "trouble bad-packet", "outcomes t"}},
		{"a ptwrite whose fup is not the next", Config{}, list(psbAt(0x1000), none(OVF), withIP(val(PTW, 7)), val(PWRX, 0x0162), fup(0x2000), tip(0x9000)),
			[]string{"sync ip 1000", "overflow", "payload ptwrite 7,4", "trouble bad-packet", "payload pwrx 6,102", "async from 2000 ip 9000"}},
		{"a transaction begins and ends", Config{}, list(psbAt(0x1000), none(OVF), val(ModeTSX, 1), val(ModeTSX, 0), fup(0x2000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 2000", "status tx-begin ip 2000", "status tx-commit ip 2000", "outcomes t"}},
		{"a transaction aborts and one begins", Config{}, list(psbAt(0x1000), none(OVF), val(ModeTSX, 2), val(ModeTSX, 1), fup(0x2000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 2000", "status tx-abort ip 2000", "status tx-begin ip 2000", "outcomes t"}},
		{"an abort whose fup was lost", Config{}, list(psbAt(0x1000), none(OVF), val(ModeTSX, 2), tip(0x2000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 2000", "context tx-state", "outcomes t"}},
		{"an abort, and tracing is off", Config{}, list(psbAt(0x1000), none(OVF), val(ModeTSX, 2), pge(0x2000), tnt("t")),
			[]string{"sync ip 1000", "overflow", "context tx-state", "enable ip 2000", "outcomes t"}},
		{"overflow twice is one", Config{}, list(psbAt(0x1000), none(OVF), none(OVF), fup(0x2000)),
			[]string{"sync ip 1000", "overflow ip 2000"}},
		{"an interrupt cut by overflow is passed, not taken", Config{}, list(psbAt(0x1000), fup(0x1010), none(OVF), fup(0x2000), tip(0x3000)),
			[]string{"sync ip 1000", "status ip 1010", "overflow ip 2000", "target ip 3000"}},
		{"a ptwrite cut by overflow keeps its value", Config{},
			list(psbAt(0x1000), withIP(val(PTW, 7)), none(OVF), fup(0x2000)),
			[]string{"sync ip 1000", "payload ptwrite 7,4", "overflow ip 2000"}},
		{"SKD010: outcomes without an ip wait for one", Config{Model: Model{6, 94, 3}},
			list(psbAt(0x1000), none(OVF), tnt("t"), tnt("n"), tip(0x2000), tnt("t")),
			[]string{"sync ip 1000", "overflow ip 2000", "outcomes t"}},
		{"SKD010: an interrupt is proof and place", Config{Model: Model{6, 94, 3}},
			list(psbAt(0x1000), none(OVF), tnt("t"), fup(0x2000), tip(0x9000)),
			[]string{"sync ip 1000", "overflow ip 2000", "async from 2000 ip 9000"}},
		{"SKD007: ovf inside a cyc", Config{Model: Model{6, 94, 3}},
			list(psbAt(0x1000), tnt("t"), val(CYC, 0x20|5), val(CYC, 0x1e), fup(0x2000)),
			[]string{"sync ip 1000", "outcomes t", "overflow ip 2000"}},
		{"two cycs on another processor", Config{}, list(psbAt(0x1000), tnt("t"), val(CYC, 0x20|5), val(CYC, 0x1e), fup(0x2000), tip(0x3000)),
			[]string{"sync ip 1000", "outcomes t", "async from 2000 ip 3000"}},
		{"APL11: overflow ends with tracing", apl, list(psbAt(0x1000), none(OVF), ipForm(PGD, 0, 0), pge(0x2000)),
			[]string{"sync ip 1000", "overflow", "enable ip 2000"}},
		{"APL12: a stray fup while filtered out", apl, list(psbAt(0x1000), none(OVF), fup(0x2000), val(CBR, 1), pge(0x3000)),
			[]string{"sync ip 1000", "overflow", "payload cbr 1,0", "enable ip 3000"}},
		{"APL12 but tracing is on", apl, list(psbAt(0x1000), none(OVF), fup(0x2000), tnt("t"), pgd(1), pge(0x3000)),
			[]string{"sync ip 1000", "overflow ip 2000", "outcomes t", "disable ip 1", "enable ip 3000"}},
		{"APL12: a stray fup, then tracing stops", apl, list(psbAt(0x1000), none(OVF), fup(0x2000), none(TraceStop)),
			[]string{"sync ip 1000", "overflow", "payload tracestop"}},
		{"APL12: a stray fup, then a psb+ without an ip", apl,
			append(list(psbAt(0x1000), none(OVF), fup(0x2000)), psbOff(val(CBR, 1))...), []string{"sync ip 1000", "overflow", "payload cbr 1,0"}},
		{"APL12, but a second fup follows", apl, list(psbAt(0x1000), none(OVF), fup(0x2000), fup(0x2010), tip(0x3000)),
			[]string{"sync ip 1000", "overflow ip 2000", "async from 2010 ip 3000 nextip"}},
		{"APL12, but a second fup follows and a tip.pge", apl, list(psbAt(0x1000), none(OVF), fup(0x2000), val(CBR, 1), fup(0x2010), pge(0x3000)),
			[]string{"sync ip 1000", "overflow ip 2000", "payload cbr 1,0", "trouble bad-packet", "enable ip 3000"}},
		{"APL12, but the psb+ has an ip", apl, append(list(psbAt(0x1000), none(OVF), fup(0x2000)), psbAt(0x2010)...),
			[]string{"sync ip 1000", "overflow ip 2000", "sync ip 2010 restated"}},
		{"nothing resolves it", Config{}, list(psbAt(0x1000), none(OVF)), []string{"sync ip 1000", "overflow"}},
		{"nothing resolves it before the next psb", Config{}, append(list(psbAt(0x1000), none(OVF)), psbAt(0x2000)...),
			[]string{"sync ip 1000", "overflow ip 2000"}},
		{"a full queue does not wait for ever", Config{}, append(list(psbAt(0x1000), none(OVF)), repeat(val(CBR, 1), 100)...),
			append([]string{"sync ip 1000", "overflow"}, repeat("payload cbr 1,0", 100)...)},
	})
}

func repeat[T any](v T, n int) (all []T) {
	for range n {
		all = append(all, v)
	}
	return all
}

// readAhead returns how many bytes are read ahead of the FUPs behind an OVF, to
// learn whether tracing is off.
func readAhead(packets []Packet) (n int) {
	d := NewDecoder(Config{Model: Model{6, 0x5c, 0}}, whole(encode(packets...)))
	var e event.Event
	for more := d.Next(&e); more; more = d.step(&e) {
		if !d.comp.open() {
			d.head, d.tail = 0, 0
		}
		l, p := d.lx, Packet{}
		if fetch(&l, &p, &d.er) && p.Kind == FUP && d.comp.ovf >= 0 {
			from := l.pos
			staysOff(&l, d.times.clk, &d.er, &d.close)
			n += l.pos - from
		}
	}
	return n
}

// TestReadsAheadOnce would catch FUPs behind an OVF each of which has the rest of
// the segment read.
func TestReadsAheadOnce(t *testing.T) {
	for name, one := range map[string][]Packet{
		"fups": {fup(0x2000)}, "fups and more": {fup(0x2000), val(CBR, 1), val(MTC, 1)}, "overflows": {none(OVF), fup(0x2000)},
		"stops": {fup(0x2000), none(TraceStop)}, "psb+": append(psbOff(), fup(0x2000)),
	} {
		hostile := func(n int) []Packet {
			p := list(psbAt(0x1000), none(OVF))
			for range n {
				p = append(p, one...)
			}
			return append(p, pge(0x3000))
		}
		few, many := readAhead(hostile(200)), readAhead(hostile(400))
		if few == 0 || many > 2*few+100 {
			t.Errorf("%s: %d bytes are read ahead, then of twice as many packets %d", name, few, many)
		}
	}
}

// TestTransaction: MODE.TSX. It would catch an abort taken for an interrupt, a
// begin without its place, and a wait for a FUP that a filter withholds. Reserved bits that
// damage set would make it panic.
func TestTransaction(t *testing.T) {
	run(t, []situation{
		{"begin and commit", Config{}, list(psbAt(0x1000), val(ModeTSX, 1), fup(0x1010), tnt("t"), val(ModeTSX, 0), fup(0x1020), tip(1)),
			[]string{"sync ip 1000", "status tx-begin ip 1010", "outcomes t", "status tx-commit ip 1020", "target ip 1"}},
		{"abort", Config{}, list(psbAt(0x1000), val(ModeTSX, 2), fup(0x1010), tip(0x2000), tnt("t")),
			[]string{"sync ip 1000", "status tx-abort ip 1010", "async from 1010 ip 2000 abort", "outcomes t"}},
		{"abort to code that is not traced", Config{}, list(psbAt(0x1000), val(ModeTSX, 2), pgd(0x2000)),
			[]string{"sync ip 1000", "payload tx-abort", "disable ip 2000 abort"}},
		{"while filtered out", Config{}, list(psbOff(), val(ModeTSX, 1), val(ModeTSX, 0), pge(0x1000)),
			[]string{"sync", "context tx-state 1,0", "context tx-state", "enable ip 1000"}},
		{"reserved bits set", Config{}, list(psbAt(0x1000), val(ModeTSX, 4), fup(0x1020), tnt("t")),
			[]string{"sync ip 1000", "status tx-commit ip 1020", "outcomes t"}},
		{"both bits at once", Config{}, list(psbAt(0x1000), val(ModeTSX, 3), tip(1)),
			[]string{"sync ip 1000", "trouble bad-packet", "target ip 1"}},
		{"without its fup", Config{}, list(psbAt(0x1000), val(ModeTSX, 1), tnt("t")),
			[]string{"sync ip 1000", "payload tx-begin", "trouble bad-packet", "outcomes t"}},
	})
}

// TestPayload: packets beside the flow. It would catch a payload taken apart
// wrongly, and a FUP that is not shared as it should be.
func TestPayload(t *testing.T) {
	run(t, []situation{
		{"ptwrite", Config{}, list(psbAt(0x1000), val(PTW, 7), Packet{Kind: PTW, Arg: 1, Flag: true, Value: 1 << 40}, fup(0x1010), tip(1)),
			[]string{"sync ip 1000", "payload ptwrite 7,4", "status ptwrite ip 1010 10000000000,8", "target ip 1"}},
		{"ptwrite without the fup it promises", Config{}, list(psbAt(0x1000), withIP(val(PTW, 7)), tip(1)),
			[]string{"sync ip 1000", "payload ptwrite 7,4", "trouble bad-packet", "target ip 1"}},
		{"sleep and wake share one fup", Config{},
			list(psbAt(0x1000), val(MWAIT, 0x0000000200000060), val(PWRE, 0x5280), withIP(none(EXSTOP)), fup(0x1010),
				val(TSC, 1), val(CBR, 8), val(PWRX, 0x0162), tnt("t")),
			[]string{"sync ip 1000", "status mwait ip 1010 60,2", "status pwre ip 1010 5,82", "status exstop ip 1010",
				"payload cbr 8,0", "payload pwrx 6,102", "outcomes t"}},
		{"sleep without an ip", Config{}, list(psbAt(0x1000), val(PWRE, 0x5200), none(EXSTOP), tnt("t")),
			[]string{"sync ip 1000", "payload pwre 5,2", "payload exstop", "outcomes t"}},
		{"a block of items", Config{},
			list(psbAt(0x1000), val(BBP, 0x84), Packet{Kind: BIP, Arg: 3, N: 4, Value: 0x99}, val(CBR, 1), Packet{Kind: BIP, Arg: 31, N: 4, Value: 1},
				withIP(none(BEP)), fup(0x1010), tnt("t")),
			[]string{"sync ip 1000", "payload block-begin 4,4", "payload block-item 99,3", "payload cbr 1,0", "payload block-item 1,1f",
				"status block-end ip 1010", "outcomes t"}},
		{"a block cut by a branch", Config{}, list(psbAt(0x1000), val(BBP, 4), Packet{Kind: BIP, Arg: 3, N: 8, Value: 0x99}, tip(1), tnt("t")),
			[]string{"sync ip 1000", "payload block-begin 4,8", "payload block-item 99,3", "target ip 1", "outcomes t"}},
		{"trigger", Config{}, list(psbAt(0x1000), Packet{Kind: TRIG, Arg: 0xc0, Extra: 5, Value: 77}, fup(0x1010), Packet{Kind: TRIG, Extra: 6}),
			[]string{"sync ip 1000", "status trigger ip 1010 5,4d", "payload trigger 6,0"}},
		{"maintenance", Config{}, list(psbAt(0x1000), val(MNT, 0xabc)), []string{"sync ip 1000", "payload mnt abc,0"}},
		{"more owners than there is room for", Config{}, list(psbAt(0x1000), repeat(val(PWRE, 0x1000), 17)...),
			append([]string{"sync ip 1000"}, repeat("payload pwre 1,0", 17)...)},
	})
}

func evd(typ uint16) Packet { return Packet{Kind: EVD, Arg: typ, Value: 7} }
func cfe(typ uint64) Packet { return Packet{Kind: CFE, Value: typ} }

// TestTrouble: packets out of place and bytes that are none. It would catch an
// endless or silent recovery, and a recovery in the wrong place.
func TestTrouble(t *testing.T) {
	run(t, []situation{
		{"outcomes while off", Config{}, list(psbOff(), tnt("t"), tnt("n"), tip(1)),
			[]string{"sync", "trouble bad-packet", "outcomes t", "outcomes n", "target ip 1"}},
		{"disable while off", Config{}, list(psbOff(), pgd(1), pge(2)), []string{"sync", "trouble bad-packet", "enable ip 2"}},
		{"enable while on", Config{}, list(psbAt(1), pge(2), tnt("t")), []string{"sync ip 1", "trouble bad-packet", "enable ip 2", "outcomes t"}},
		{"enable without ip", Config{}, list(psbOff(), ipForm(PGE, 0, 0), pge(2)), []string{"sync", "trouble bad-packet", "enable ip 2"}},
		{"two fups", Config{}, list(psbAt(1), tnt("t"), fup(2), fup(3), tip(4)),
			[]string{"sync ip 1", "outcomes t", "trouble bad-packet", "async from 3 ip 4"}},
		{"a page fault's address before an iret", Config{}, list(psbAt(1), evd(0), cfe(2), tip(2)),
			[]string{"sync ip 1", "payload evd 7,0", "trouble bad-packet", "payload cfe 2,0", "target ip 2"}},
		{"a page fault's address before a vm exit", Config{}, list(psbAt(1), evd(0), cfe(8), fup(2), tip(3)),
			[]string{"sync ip 1", "payload evd 7,0", "trouble bad-packet", "payload cfe 8,0", "async from 2 ip 3 intr"}},
		{"a vm exit's qualification before an interrupt", Config{}, list(psbAt(1), evd(1), cfe(1), fup(2), tip(3)),
			[]string{"sync ip 1", "payload evd 7,1", "trouble bad-packet", "payload cfe 1,0", "async from 2 ip 3 intr"}},
		{"a vm exit's reason before rsm", Config{}, list(psbAt(1), evd(2), cfe(4), tip(3)),
			[]string{"sync ip 1", "payload evd 7,2", "trouble bad-packet", "payload cfe 4,0", "target ip 3"}},
		{"a vm exit's reason and a page fault's address", Config{}, list(psbAt(1), evd(2), evd(0), tip(3)),
			[]string{"sync ip 1", "payload evd 7,2", "trouble bad-packet", "target ip 3"}},
		{"a page fault's address and a vm exit's qualification", Config{}, list(psbAt(1), evd(0), evd(1), tip(3)),
			[]string{"sync ip 1", "payload evd 7,0", "trouble bad-packet", "target ip 3"}},
		{"one reason too many", Config{}, list(psbAt(1), evd(2), evd(2), tip(3)),
			[]string{"sync ip 1", "payload evd 7,2", "trouble bad-packet", "target ip 3"}},
		{"a vm exit with all that it may have", Config{}, list(psbAt(1), evd(31), evd(1), evd(31), evd(2), cfe(9), fup(2), tip(3)),
			[]string{"sync ip 1", "payload evd 7,1f", "payload evd 7,1", "payload evd 7,1f", "payload evd 7,2", "payload cfe 9,0",
				"async from 2 ip 3 intr"}},
		{"the cfe of an evd lost in an overflow", Config{}, list(psbAt(1), evd(0), none(OVF), fup(2), cfe(8), fup(3), tip(4)),
			[]string{"sync ip 1", "payload evd 7,0", "overflow ip 2", "payload cfe 8,0", "async from 3 ip 4 intr"}},
		{"rsm with an ip", Config{}, list(psbAt(1), cfe(0x84), fup(2), tnt("t")),
			[]string{"sync ip 1", "trouble bad-packet", "status cfe ip 2 4,0", "outcomes t"}},
		{"a tma with a reserved bit behind the crystal's count", Config{}, list(psbAt(1), Packet{Kind: TMA, Extra: 1}, tnt("t")),
			[]string{"sync ip 1", "trouble bad-packet"}},
		{"a tma with a reserved bit behind the ticks", Config{}, list(psbAt(1), Packet{Kind: TMA, Extra: 0x2000}, tnt("t")),
			[]string{"sync ip 1", "trouble bad-packet"}},
		{"a tma with a reserved bit in a psb+", Config{}, list([]Packet{none(PSB), fup(1), {Kind: TMA, Extra: 1}, none(PSBEND)}, tnt("t")),
			[]string{"sync ip 1", "trouble bad-packet"}},
		{"stray psbend", Config{}, list(psbAt(1), none(PSBEND), tip(2)), []string{"sync ip 1", "trouble bad-packet", "target ip 2"}},
	})

	// Bad bytes reach to the next PSB, here one inside the segment.
	buf := encode(psbAt(0x1000)...)
	bad := int64(len(buf))
	buf = append(buf, 0x02, 0xff, 0x04, 0x04)
	buf = append(buf, encode(list(psbAt(0x2000), tnt("t"))...)...)
	got := decode(t, Config{}, whole(buf))
	if len(got) != 5 || got[1].Kind != event.Trouble || got[1].Reason != event.BadPacket ||
		got[1].Off != bad || got[1].End != bad+4 || show(&got[2]) != "sync ip 2000 restated" {
		t.Errorf("bad bytes: %+v", got)
	}
	// The stream ends inside a packet.
	buf = append(buf, 0x19, 1, 2)
	got = decode(t, Config{}, whole(buf))
	if n := len(got); n != 6 || got[4].Reason != event.Truncated || got[4].End != int64(len(buf)) || got[5].Kind != event.End {
		t.Errorf("cut packet: %+v", got)
	}
}

// TestSegmentEnd: a segment is closed by the PSB+ behind it. It would catch an
// end that is not restated, or taken from a PSB+ that is cut.
func TestSegmentEnd(t *testing.T) {
	a := encode(list(psbAt(0x1000), tnt("t"))...)
	b := encode(psbAt(0x1010, val(TSC, 500), val(ModeExec, 1))...)
	for n, want := range map[int]string{
		len(b):            "sync ip 1010 x86-64 restated",
		len(b) - 1:        "end",
		len(psb):          "end",
		len(psb) - 1:      "end",
		len(b) - len(b)/2: "end",
	} {
		seg := event.Segment{End: int64(len(a)), Buf: append(a[:len(a):len(a)], b[:n]...), Time: event.Always}
		got := decode(t, Config{Ahead: true}, seg)
		last := &got[len(got)-1]
		if show(last) != want || last.Off != int64(len(a)) {
			t.Errorf("%d of %d bytes behind the end: %+v, want %s", n, len(b), last, want)
		}
	}
}

// TestSegments: the plan of a stream. It would catch bytes that no segment
// holds, and times of the wrong sync point.
func TestSegments(t *testing.T) {
	var buf []byte
	var at []int64
	add := func(p ...Packet) { buf = append(buf, encode(p...)...) }
	start := func(p ...Packet) { at = append(at, int64(len(buf))); add(p...) }
	add(tnt("t"), tip(9))
	start(psbAt(0x1000, val(TSC, 100))...)
	add(tnt("t"))
	start(psbAt(0x1010)...)
	start(psbAt(0x1010, val(TSC, 300))...)
	add(none(OVF), val(MTC, 1))
	add(psbOff(val(TSC, 400))...) // no segment: the overflow goes on behind it
	add(fup(0x2000))
	start(psbAt(0x2000)...)
	end := int64(len(buf))

	segs, first := Segments(buf, 7, Config{})
	if first != int(at[0]) || len(segs) != len(at) {
		t.Fatalf("%d segments from %d, want %d from %d", len(segs), first, len(at), at[0])
	}
	want := []event.Time{{Lo: 100, Hi: 300}, {Lo: 100, Hi: 300}, {Lo: 300, Hi: unknown}, {Lo: 300, Hi: unknown}}
	for i, s := range segs {
		next := end
		if i+1 < len(at) {
			next = at[i+1]
		}
		if s.Off != at[i] || s.End != next || s.Index != i || s.Stream != 7 || s.Last != (next == end) || s.Time != want[i] ||
			len(s.Buf) != int(end-s.Off) {
			t.Errorf("segment %d: [%d, %d) %v last %v, %d bytes; want [%d, %d) %v", i, s.Off, s.End, s.Time, s.Last, len(s.Buf), at[i], next, want[i])
		}
	}
	if segs, _ := segments(buf, 0, Config{}, 1<<20); len(segs) != 1 || segs[0].End != end {
		t.Errorf("one long segment: %d", len(segs))
	}
	if segs, first := Segments(buf[:5], 0, Config{}); segs != nil || first != 5 {
		t.Errorf("no sync point: %v from %d", segs, first)
	}
}
