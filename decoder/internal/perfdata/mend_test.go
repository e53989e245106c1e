package perfdata

import (
	"bytes"
	"maps"
	"runtime/debug"
	"slices"
	"testing"
)

// TestMend would catch damage to a record's header or lengths that takes other records
// with it, or that is not told. In each round one byte of one header is changed. A
// TEXT_POKE and AUX data must come through whole, whichever byte it is. Only a type that
// has become another one goes unseen.
func TestMend(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke}
	who := func(time uint64) []byte { return a.trailer(ident{pid: 7, tid: 7, time: time, cpu: 1}) }
	var data []byte
	var starts []int
	add := func(b []byte) { starts, data = append(starts, len(data)), append(data, b...) }
	for i := range uint64(4) {
		add(record(TypeComm, 0, int32(7), int32(7), "before\x00\x00", who(10+i)))
	}
	poke := len(starts)
	add(record(TypeTextPoke, 0, uint64(0xffffffff81000000), uint16(5), uint16(5), "abcdeABCDE\x00\x00", who(20)))
	for i := range uint64(4) {
		add(record(TypeComm, 0, int32(7), int32(7), "between\x00", who(30+i)))
	}
	trace := []byte("\x02\x82\x02\x82 not records")
	aux := len(starts)
	add(auxtrace(0, 0, -1, 1, append(trace, make([]byte, -len(trace)&7)...)))
	for i := range uint64(4) {
		add(record(TypeComm, 0, int32(7), int32(7), "after\x00\x00\x00", who(40+i)))
	}
	for _, k := range []int{1, poke, poke + 1, aux, aux + 1} {
		for _, at := range []int{0, 1, 2, 3, 6, 7} {
			for _, bit := range []byte{0x20, 0x40} {
				if at == 0 && (bit == 0x40 && k != aux || k != poke && k != aux) {
					continue // another type, or one that may have come later: nothing tells
				}
				bad := slices.Clone(data)
				bad[starts[k]+at] ^= bit
				r := fromBytes(t, file{attrs: []tattr{a}, data: bad}.bytes())
				n := r.Counts()
				found, _ := r.Trouble()
				if n[TypeComm] < 11 || n[TypeTextPoke] != 1 || len(r.Streams()) != 1 || len(found) == 0 {
					t.Errorf("record %d, byte %d, bit %#x: %v, %d streams, trouble %v", k, at, bit, n, len(r.Streams()), found)
				}
			}
		}
	}
}

// TestMendSizes would catch a wrong size of a record that takes others with it, or makes another
// of it, whatever the size is. Inside of a NOP of five bytes, and of other records, lies what
// may be a type. A TEXT_POKE must come through, in doubt. Of the others no more than one size of all
// may make code unknown: its bytes could be a TEXT_POKE's.
func TestMendSizes(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke}
	who := func(time uint64) []byte { return a.trailer(ident{pid: 1207, tid: 1207, time: time, cpu: 1}) }
	poke := func(time uint64) []byte {
		return record(TypeTextPoke, MiscKernel, 0xffffffff81000000+time, uint16(5), uint16(5), "\xe9\x93\x00\x00\x00\x0f\x1f\x44\x00\x00\x00\x00", who(time))
	}
	const at = 20 // of the records
	for _, x := range [][]byte{
		poke(at),
		record(TypeTextPoke, MiscKernel, uint64(0xffffffffc1000000), uint16(0), uint16(13), "\x44\x00\x00\x00\x0b\x00\x00\x00\x0f\x1f\x44\x00\x00\x00\x00\x00\x00\x00\x00\x00", who(at)),
		record(TypeComm, 0, int32(1207), int32(1207), "before\x00\x00", who(at)),
		record(TypeFork, 0, int32(7), int32(7), int32(9), int32(9), uint64(at), who(at)),
		record(TypeMmap2, MiscUser, int32(7), int32(7), uint64(0x7f0000001000), uint64(0x4000), uint64(0), uint64(0), uint64(4), uint64(1), uint32(5), uint32(2), "/usr/lib/libc.so.6\x00\x00\x00\x00\x00\x00", who(at)),
		record(TypeMmap, MiscKernel, int32(-1), int32(0), uint64(0xffffffffc0001000), uint64(0x4000), uint64(0), "[nf_tables]\x00\x00\x00\x00\x00", who(at)),
		record(TypeKsymbol, 0, uint64(0xffffffffc0003000), uint32(88), uint16(1), uint16(0), "bpf_prog_1234\x00\x00\x00", who(at)),
		record(TypeAux, 0, uint64(0), uint64(0x1000), uint64(0), who(at)),
		record(TypeSwitchCPUWide, 0x2000, int32(7), int32(8), who(at)),
		record(TypeFinishedRound, 0),
	} {
		var data []byte
		for i := range uint64(4) {
			data = append(data, poke(10+i)...)
		}
		size := len(data) + 6
		data = append(data, x...)
		for i := range uint64(4) {
			data = append(data, poke(30+i)...)
		}
		want := fromBytes(t, file{attrs: []tattr{a}, data: data}.bytes()).Counts()
		typ, holes := Type(le.Uint32(x)), 0
		for n := range 1 << 16 {
			if n>>8 != 0 && n&0xff != len(x) || n == len(x) {
				continue // one byte is wrong
			}
			bad := slices.Clone(data)
			le.PutUint16(bad[size:], uint16(n))
			r := fromBytes(t, file{attrs: []tattr{a}, data: bad}.bytes())
			got, h := r.Counts(), r.Hints()
			doubted := len(h.Holes) == 0 && len(h.Guessed) > 0
			if typ != TypeTextPoke {
				holes += len(h.Holes)
				doubted = holes <= 1 && len(h.Guessed) == 0
				delete(got, TypeDamaged)
				got[typ] = want[typ]
			}
			if !doubted || !maps.Equal(got, want) {
				found, _ := r.Trouble()
				t.Errorf("%v of %d bytes, size %d: %v: %v", typ, len(x), n, r.Counts(), found)
			}
		}
	}
}

// FuzzResync damages a recording that has everything: each three bytes of how are a place
// and what is flipped there. It would catch a panic, a hang, and more records than there is
// room for.
func FuzzResync(f *testing.F) {
	whole := everything(f).bytes()
	f.Add([]byte{})
	f.Add([]byte("E\x130")) // a TEXT_POKE without room for its sample_id
	f.Add([]byte{0, 8, 0x20, 1, 0, 0x40, 2, 6, 0x80})
	f.Fuzz(func(t *testing.T, how []byte) {
		b := slices.Clone(whole)
		for ; len(how) >= 3; how = how[3:] {
			b[(int(how[0])<<8|int(how[1]))%len(b)] ^= how[2]
		}
		r, err := openBytes("t.data", b)
		if err != nil {
			return
		}
		defer r.Close()
		exercise(r)
		n := 0
		for _, c := range r.Counts() {
			n += int(c)
		}
		if n > len(b)/headerSize {
			t.Errorf("%d records in %d bytes", n, len(b))
		}
	})
}

// TestMendMany would catch a stack that grows with the number of damaged records side by side,
// and time that grows with its square. At each place the mender looks once for records.
func TestMendMany(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke}
	who := func(time uint64) []byte { return a.trailer(ident{pid: 7, tid: 7, time: time, cpu: 1}) }
	switches := func(from uint64) (b []byte) {
		for i := range uint64(6) {
			b = append(b, record(TypeSwitchCPUWide, 0x2000, int32(7), int32(8), who(from+i))...)
		}
		return b
	}
	const n = 20000
	poke := record(Type(0x7eeeeeee), 0x1234, uint64(0xffffffff81000000), uint16(1), uint16(1), "ab\x00\x00", who(20))
	le.PutUint16(poke[6:], 3)
	defer debug.SetMaxStack(debug.SetMaxStack(256 << 10)) // bytes
	r := fromBytes(t, file{attrs: []tattr{a}, data: slices.Concat(switches(10), bytes.Repeat(poke, n), switches(30))}.bytes())
	if got := r.Counts(); got[TypeTextPoke] != n || got[TypeSwitchCPUWide] != 12 {
		t.Errorf("%v, want %d of TEXT_POKE and 12 others", got, n)
	}
	data := bytes.Repeat(record(Type(200), 0), n)
	r = fromBytes(t, file{attrs: []tattr{a}, data: data}.bytes())
	m := newMender(r, &r.parts[0])
	prev := int64(-1)
	for off := r.parts[0].start; off < r.parts[0].end; off += headerSize {
		m.mend(prev, off)
		prev = off
	}
	if m.looked == 0 || m.looked > 2*n {
		t.Errorf("it looked at %d places of %d", m.looked, n)
	}
}

// TestMendHeader would catch a wrong byte of the file header, or of an attribute, that makes
// the file unreadable or goes untold. Only feature bits, and what is not read, say nothing. Of
// attributes only their size, and bits that no kernel has, are known to be wrong.
func TestMendHeader(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke}
	desc := enc(uint32(2), uint32(128), a.bytes(), uint32(0), hstr("a"), a.bytes(), uint32(0), hstr("b"))
	whole := file{attrs: []tattr{a, a}, data: comm("x", 1), features: map[Feature][]byte{FeatureEventDesc: desc, FeatureHostname: hstr("host")}}.bytes()
	want := fromBytes(t, whole)
	first := int(le.Uint64(whole[24:]))
	for at := range first + 128 {
		if at >= 56 && at < first {
			continue // event_types, features, ids
		}
		bad := slices.Clone(whole)
		bad[at] ^= 0x21
		r, err := openBytes("t.data", bad)
		if err != nil {
			t.Errorf("byte %#x changed: %v", at, err)
			continue
		}
		found, _ := r.Trouble()
		k := at - first // in the attribute
		surely := k < 0 || 4 <= k && k < 8 || 28 <= k && k < 32 || 33 <= k && k < 40 || 45 <= k && k < 48
		if len(found) == 0 || r.Counts()[TypeComm] != 1 || len(r.Attrs()) != 2 || surely && !slices.Equal(r.Attrs()[0].Raw, want.Attrs()[0].Raw) {
			t.Errorf("byte %#x changed: %v, %d attributes, trouble %v", at, r.Counts(), len(r.Attrs()), found)
		}
		r.Close()
	}
}

// TestFixedSize would catch a wrong size that ends where another record does: what lies
// between would be lost in silence. A size that is right must stay, whatever lengths a
// TEXT_POKE states.
func TestFixedSize(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke}
	who := func(time uint64) []byte { return a.trailer(ident{pid: 7, tid: 7, time: time, cpu: 1}) }
	var data []byte
	for i := range uint64(12) {
		data = append(data, record(TypeSwitchCPUWide, 0, int32(7), int32(8), who(10+i))...)
	}
	size := int(le.Uint16(data[6:]))
	bad := slices.Clone(data)
	le.PutUint16(bad[3*size+6:], uint16(4*size))
	r := fromBytes(t, file{attrs: []tattr{a}, data: bad}.bytes())
	if n := r.Counts()[TypeSwitchCPUWide]; n != 12 || r.Hints().Mended == 0 {
		t.Errorf("a switch as large as four: %d of 12, %d mended", n, r.Hints().Mended)
	}
	bad[5*size-5] ^= 0x4f // the CPU of the record behind it
	r = fromBytes(t, file{attrs: []tattr{a}, data: bad, features: map[Feature][]byte{FeatureNrCPUs: enc(uint32(2), uint32(2))}}.bytes())
	if n := r.Counts()[TypeSwitchCPUWide]; n != 12 || r.Hints().Mended == 0 {
		t.Errorf("a switch as large as four, before one of a wrong CPU: %d of 12, %d mended", n, r.Hints().Mended)
	}
	poke := record(TypeTextPoke, 0, uint64(0xffffffff81000000), uint16(5), uint16(5), "abcdeABCDE\x00\x00", who(40))
	bad = append(slices.Clone(poke), data...)
	le.PutUint16(bad[18:], uint16(5+2*size))
	r = fromBytes(t, file{attrs: []tattr{a}, data: bad}.bytes())
	if n := r.Counts(); n[TypeSwitchCPUWide] != 12 || n[TypeTextPoke] != 1 || len(r.Hints().Guessed) != 1 {
		t.Errorf("lengths that reach to a later record: %v, in doubt %v", n, r.Hints().Guessed)
	}
	for _, x := range []struct {
		typ  Type
		body []any
	}{
		{TypeComm, []any{int32(7), int32(7), "kworker/0:1\x00\x00\x00\x00\x00", who(9)}},
		{TypeMmap, []any{int32(7), int32(7), uint64(4096), uint64(4096), uint64(0), "/bin/sh\x00", who(9)}},
		{TypeKsymbol, []any{uint64(0xffffffffc0000000), uint32(64), uint16(1), uint16(0), "bpf_prog\x00\x00\x00\x00\x00\x00\x00\x00", who(9)}},
		{TypeFinishedRound, nil},
	} {
		first := record(x.typ, 0, x.body...)
		bad = slices.Concat(first, data)
		le.PutUint16(bad[6:], uint16(len(first)+4*size))
		r = fromBytes(t, file{attrs: []tattr{a}, data: bad}.bytes())
		if n := r.Counts(); n[TypeSwitchCPUWide] != 12 || n[x.typ] != 1 || r.Hints().Mended != 1 {
			t.Errorf("%s as large as the next four: %v, %d mended", x.typ, n, r.Hints().Mended)
		}
		if r = fromBytes(t, file{attrs: []tattr{a}, data: slices.Concat(first, data)}.bytes()); r.Hints().Mended != 0 || r.Counts()[x.typ] != 1 {
			t.Errorf("sound %s: %d mended", x.typ, r.Hints().Mended)
		}
	}
}

// TestFoundTrace would catch trace that is lost with the header of its AUXTRACE record, or
// that goes to another CPU, and records that are taken for trace.
func TestFoundTrace(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke}
	who := func(cpu int32, time uint64) []byte { return a.trailer(ident{pid: 7, tid: 7, time: time, cpu: cpu}) }
	psb := string(bytes.Repeat([]byte{0x02, 0x82}, 8))
	traces := []string{psb + "first of three" + psb + "the end of it", psb + "second" + psb + psb}
	var data []byte
	var heads []int
	for cpu, tr := range traces {
		data = append(data, record(TypeAux, 0, uint64(0), uint64(len(tr)), uint64(0), who(int32(cpu), uint64(10+cpu)))...)
	}
	comms := func() {
		for i := range uint64(4) {
			data = append(data, record(TypeComm, 0, int32(7), int32(7), "between\x00", who(0, 30+i))...)
		}
	}
	for cpu, tr := range traces {
		comms()
		heads = append(heads, len(data))
		data = append(data, auxtrace(0, uint32(cpu), -1, int32(cpu), []byte(tr))...)
	}
	comms()
	for cpu, head := range heads {
		bad := slices.Clone(data)
		for i := range auxtraceSize {
			bad[head+i] ^= 0x95
		}
		r := fromBytes(t, file{attrs: []tattr{a}, data: bad}.bytes())
		n := 0
		for i := range r.Streams() {
			if s := &r.Streams()[i]; s.CPU == int32(cpu) && string(s.Bytes(0, s.Size)) == traces[cpu] {
				n++
			}
		}
		if n != 1 || len(r.Streams()) != 2 || r.Counts()[TypeComm] != 12 || r.Counts()[TypeDamaged] != 0 {
			t.Errorf("CPU %d: %d of its streams are whole, of %d; %v", cpu, n, len(r.Streams()), r.Counts())
		}
	}
	for cpu, head := range heads { // a size that takes trace for the record
		bad := slices.Clone(data)
		bad[head+6] += 16
		r := fromBytes(t, file{attrs: []tattr{a}, data: bad}.bytes())
		if s := &r.Streams()[cpu]; string(s.Bytes(0, s.Size)) != traces[cpu] || r.Hints().Mended == 0 {
			t.Errorf("CPU %d: size of its AUXTRACE changed: %q", cpu, s.Bytes(0, s.Size))
		}
	}
}
