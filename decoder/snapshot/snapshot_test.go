package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// whole is a snapshot with every form of line, source and dump that is in
// order.
const whole = `
-- snapshot.ini --
; a comment
[snapshot]
version=1.0
description=two cores # and a comment
[device_list]
device0=cpu_0.ini
device1=cpu_1.ini
device2=etm_0.ini
device3=sub/ptm_1.ini
device4=stm.ini
device5=itm.ini
[clusters]
Cluster 0=cpu_0, cpu_1
[trace]
metadata=trace.ini
-- cpu_0.ini --
[device]
name=cpu_0
class=core
type=Cortex-A53
[regs]
PC(size:64)=0xFFFFFFC000081000
SCTLR_EL1=0
V0(size:128)=0x00112233445566778899aabbccddeeff
[dump1]
file='mem/kernel.bin'
address=0x8000
length=0x10
[dump.init]
file="mem/kernel.bin"
address=0xFFFF000000000000
offset=4
length=0
space=EL2
[dumpx]
file=mem/kernel.bin
address=0x100
length=8
offset=0x10
space=H
-- cpu_1.ini --
[device]
name=cpu_1
class=core
type=ARMv7-A
[dump]
file=mem/kernel.bin
address=0x8000
length=0x10
-- etm_0.ini --
[device]
name=ETM_0
class=trace_source
type=ETM4.2
location=0x1000
[regs]
trcconfigr(0x004)=0x000010C1
TRCTRACEIDR(id:0x10)=0x00000010
TRCIDR0(id:0x78,size:32)=0x28000EA1
TRCIDR1="0x4100F424"
TRCIDR2(0x07A)=0x00000488
TRCIDR8 ( 0x060 ) = 4
-- sub/ptm_1.ini --
[device]
name=PTM_1
class=trace_source
type=PFT1.1
[regs]
ETMCR=0x10001000
ETMTRACEIDR=17
ETMCCER=0x34C01AC2
ETMIDR=0x411CF312
-- stm.ini --
[device]
name=STM_0
class=trace_source
type=STM
[regs]
STMTCSR(0x3A0)=0X00A00007
-- itm.ini --
[device]
name=ITM_0
class=trace_source
type=ITM
[regs]
CONTROL_REGISTER=0x00130000
-- trace.ini --
[trace_buffers]
buffers=b0, b1, b2,
[b0]
name=ETB_0
file=etb0.bin
format=coresight
[b1]
name=ETB_1
file=etb1.bin
format=source_data
[b2]
name=DS
file=ds.bin
format=dstream_coresight
[core_trace_sources]
cpu_0=ETM_0
cpu_1=PTM_1
[source_buffers]
ETM_0=ETB_0,DS,ETB_0
PTM_1=ETB_0
STM_0=ETB_0
ITM_0=ETB_1
[timestamp]
frequency=25000000
-- mem/kernel.bin --
0123456789abcdef0123456789abcdef
-- etb0.bin --
0123456789abcde
-- etb1.bin --
012
-- ds.bin --
0123
`

// archive returns the files of text, a txtar archive.
func archive(text string) map[string][]byte {
	files := map[string][]byte{}
	for _, f := range txtar.Parse([]byte(text)).Files {
		files[path.Clean(f.Name)] = f.Data
	}
	return files
}

// dir writes a snapshot, with lines of it replaced, into a folder.
func dir(t *testing.T, replace ...string) string {
	t.Helper()
	root := t.TempDir()
	for name, data := range archive(edit(t, replace...)) {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// edit replaces text of whole, in pairs of old and new.
func edit(t *testing.T, replace ...string) string {
	t.Helper()
	text := whole
	for i := 0; i+1 < len(replace); i += 2 {
		if strings.Count(text, replace[i]) == 0 {
			t.Fatalf("%q is not in the snapshot", replace[i])
		}
		text = strings.Replace(text, replace[i], replace[i+1], 1)
	}
	return text
}

// Everything that a snapshot in order says is read, with Unix and with Windows
// line ends. It would catch a key, a form of register or a dump read wrong.
func TestWhole(t *testing.T) {
	for _, ends := range []string{"\n", "\r\n"} {
		root := dir(t)
		inis, _ := filepath.Glob(filepath.Join(root, "*.ini"))
		for _, p := range inis {
			b, _ := os.ReadFile(p)
			os.WriteFile(p, []byte(strings.ReplaceAll(string(b), "\n", ends)), 0o666)
		}
		s, err := Open(nil, root)
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(s); got != wantWhole {
			t.Errorf("line ends %q: got\n%s\nwant\n%s", ends, got, wantWhole)
		}
		b, err := readDump(s, &s.Dumps[2])
		if err != nil || string(b) != "01234567" {
			t.Errorf("dump at 0x100: %q, %v", b, err)
		}
		buf, _ := s.Buffer("ETB_1")
		if b, err := s.ReadBuffer(buf); err != nil || string(b) != "012\n" {
			t.Errorf("ETB_1: %q, %v", b, err)
		}
	}
}

const wantWhole = `version 1.0, "two cores", 6 devices, 25000000 Hz
cluster Cluster 0: [cpu_0 cpu_1]
buffer ETB_0: etb0.bin 16 bytes framed true as 0: [ETM_0 PTM_1 STM_0]
buffer ETB_1: etb1.bin 4 bytes framed false as 0: [ITM_0]
buffer DS: ds.bin 5 bytes framed true as 1: [ETM_0]
source ETM_0 (ETM4.2, etm_0.ini) of cpu_0: etmv4 10 v8-A usable true; buffers [0 2]
source PTM_1 (PFT1.1, sub/ptm_1.ini) of cpu_1: ptm 11 v7-A usable true; buffers [0]
source STM_0 (STM, stm.ini) of : stm 20 ? usable true; buffers [0]
source ITM_0 (ITM, itm.ini) of : itm 13 ? usable true; buffers [1]
dump 0x8000 of cpu_0: mem/kernel.bin+0x0 16 bytes ANY
dump 0xffff000000000000 of cpu_0: mem/kernel.bin+0x4 29 bytes EL2N
dump 0x100 of cpu_0: mem/kernel.bin+0x10 8 bytes EL2N
registers {CONFIGR:4289 TRACEIDR:16 IDR0:671092385 IDR1:1090581540 IDR2:1160 IDR8:4 DEVARCH:0}
`

// describe prints what a snapshot holds.
func describe(s *Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version %s, %q, %d devices, %d Hz\n", s.Version, s.Description, len(s.Devices), s.TimestampFreq)
	for _, c := range s.Clusters {
		fmt.Fprintf(&b, "cluster %s: %v\n", c.Name, c.Cores)
	}
	for _, x := range s.Buffers {
		var names []string
		for _, k := range x.Sources {
			names = append(names, s.Sources[k].Name)
		}
		fmt.Fprintf(&b, "buffer %s: %s %d bytes framed %v as %d: %v\n", x.Name, x.File, x.Size, x.Framed, x.Frames, names)
	}
	for _, x := range s.Sources {
		fmt.Fprintf(&b, "source %s (%s, %s) of %s: %v %02x %v usable %v; buffers %v\n",
			x.Name, x.Type, x.File, x.Core, x.Config.Protocol, x.Config.ID, x.Config.Arch, x.Usable, x.Buffers)
	}
	for _, x := range s.Dumps {
		fmt.Fprintf(&b, "dump 0x%x of %s: %s+0x%x %d bytes %s\n", x.Address, x.Core, x.File, x.Off, x.Length, x.Space)
	}
	if len(s.Sources) > 0 {
		fmt.Fprintf(&b, "registers %+v\n", s.Sources[0].Config.V4)
	}
	for _, p := range s.Problems {
		fmt.Fprintf(&b, "%v\n", p)
	}
	return b.String()
}

// One thing wrong at a time: it is named with file and line, with what to do,
// and the rest is read. It would catch a complaint that does not say where, one
// too many, and a fault that takes more down than it must.
func TestProblems(t *testing.T) {
	for _, x := range []struct {
		name    string
		replace []string
		want    []string // prefixes of the problems
		sources string   // that are usable
	}{
		{"a line that is none", []string{"class=core", "class core"}, []string{`cpu_0.ini:3: "class core" is neither key=value nor a section`}, "EPSI"},
		{"a line before sections", []string{"; a comment", "version=1.0"}, []string{`snapshot.ini:1: "version=1.0" stands before the first section`}, "EPSI"},
		{"a section that is not closed", []string{"[dumpx]", "[dumpx"}, []string{`cpu_0.ini:19: section "[dumpx" has no ]`}, "EPSI"},
		{"a key twice", []string{"length=8", "length=8\nlength=9"}, []string{`cpu_0.ini:23: [dumpx]: length stands here and in line 22`}, "EPSI"},
		{"an unknown key of a dump", []string{"length=8", "lenght=8"}, []string{`cpu_0.ini:22: [dumpx]: "lenght" is no key of it`}, "EPSI"},
		{"an unknown version", []string{"version=1.0", "version=7"}, []string{`snapshot.ini:3: version "7" is not known`}, "EPSI"},
		{"a device without a file", []string{"device4=stm.ini", "device4=Stm.ini"},
			[]string{`snapshot.ini:10: [device_list]: device device4: there is no file "Stm.ini": left out`, `trace.ini:21: [source_buffers]: no device is called STM_0`}, "EPI"},
		{"a device listed twice", []string{"device4=stm.ini", "device4=stm.ini\ndevice4=./stm.ini"}, []string{`snapshot.ini:11: [device_list]: device device4: "./stm.ini" is listed already`}, "EPSI"},
		{"two devices of a name", []string{"name=STM_0", "name=ITM_0"},
			[]string{`itm.ini:2: device ITM_0 is described in stm.ini too`, `trace.ini:21: [source_buffers]: no device is called STM_0`}, "EPI"},
		{"no [device]", []string{"[device]\nname=STM_0", "[dev]\nname=STM_0"}, []string{`stm.ini: it has no section [device]`, `trace.ini:21:`}, "EPI"},
		{"no name", []string{"name=STM_0", ""}, []string{`stm.ini:1: [device] has no name`, `trace.ini:21:`}, "EPI"},
		{"an unknown source", []string{"type=STM", "type=TPDM"}, []string{`stm.ini:4: STM_0 is of type "TPDM", which is no known trace source`}, "EPI"},
		{"an unknown core", []string{"type=Cortex-A53", "type=Cortex-Z1"}, []string{`cpu_0.ini:4: cpu_0 is of type "Cortex-Z1", whose architecture is not known: ETM_0 is left out`}, "PSI"},
		{"no core", []string{"cpu_0=ETM_0\n", ""}, []string{`trace.ini:18: no core is traced by ETM_0 (ETM4.2)`}, "PSI"},
		{"a core that is not there", []string{"cpu_0=ETM_0", "cpu_9=ETM_0"}, []string{`trace.ini:16: [core_trace_sources]: no device is called cpu_9: ETM_0 is left out`}, "PSI"},
		{"two cores of a source", []string{"cpu_1=PTM_1", "cpu_1=PTM_1\ncpu_1=ETM_0"}, []string{`trace.ini:18: [core_trace_sources]: ETM_0 watches cpu_1 and, in line 16, cpu_0`}, "EPSI"},
		{"a register that is not there", []string{"TRCIDR2(0x07A)=0x00000488\n", ""}, []string{`etm_0.ini:4: ETM_0 has no register TRCIDR2, which a source of type ETM4.2 needs`}, "PSI"},
		{"a register that is no number", []string{"=0x00000488", "=0x0000048G"}, []string{`etm_0.ini:11: ETM_0: TRCIDR2="0x0000048G" is no number of 32 bits`}, "PSI"},
		{"a register that is too large", []string{"=0x00000488", "=0x100000488"}, []string{`etm_0.ini:11: ETM_0: TRCIDR2="0x100000488" is no number of 32 bits`}, "PSI"},
		{"a register that makes no sense", []string{`"0x4100F424"`, `"0x4100F524"`}, []string{`etm_0.ini:10: ETM_0: etmv4: TRCIDR1 0x4100f524 says version 5.2, need 4.x`}, "PSI"},
		{"a dump without a file", []string{"file='mem/kernel.bin'", "file=mem/Kernel.bin"}, []string{`cpu_0.ini:10: memory at 0x8000: there is no file "mem/Kernel.bin"`}, "EPSI"},
		{"a dump cut short", []string{"length=8", "length=0x80"}, []string{`cpu_0.ini:20: memory at 0x100: 0x80 bytes from offset 0x10, but "mem/kernel.bin" has 0x21`}, "EPSI"},
		{"a dump beyond its file", []string{"offset=0x10", "offset=0x100"}, []string{`cpu_0.ini:20: memory at 0x100: offset 0x100 lies beyond "mem/kernel.bin", which has 0x21 bytes`}, "EPSI"},
		{"a dump over the end", []string{"0xFFFF000000000000", "0xFFFFFFFFFFFFFFF0"}, []string{`cpu_0.ini:14: memory at 0xfffffffffffffff0: 0x1d bytes reach over the end of the address space`}, "EPSI"},
		{"a dump without an address", []string{"address=0x100\n", ""}, []string{`cpu_0.ini:19: [dumpx] has no address`}, "EPSI"},
		{"an address that is no number", []string{"address=0x100\n", "address=100h\n"}, []string{`cpu_0.ini:21: [dumpx]: address="100h" is no number of 64 bits`}, "EPSI"},
		{"an unknown space", []string{"space=EL2\n", "space=EL9\n"}, []string{`cpu_0.ini:18: [dump.init]: space "EL9" is not known: taken as ANY`}, "EPSI"},
		{"a dump that names no file", []string{"file='mem/kernel.bin'\n", ""}, []string{`cpu_0.ini:9: [dump1] names no file`}, "EPSI"},
		{"no metadata", []string{"metadata=trace.ini", ""}, []string{`snapshot.ini: it names no trace`}, ""},
		{"no trace.ini", []string{"metadata=trace.ini", "metadata=traces.ini"}, []string{`snapshot.ini:15: [trace]: metadata: there is no file "traces.ini": the snapshot has no trace`}, ""},
		{"no [trace_buffers]", []string{"[trace_buffers]", "[buffers]"}, []string{`trace.ini: it has no section [trace_buffers]`}, "EPSI"},
		{"a buffer without a section", []string{"buffers=b0, b1, b2,", "buffers=b0,b1,b2,b3"}, []string{`trace.ini:2: [trace_buffers]: there is no section [b3]`}, "EPSI"},
		{"a buffer without a file", []string{"-- etb1.bin --", "-- etb9.bin --"}, []string{`trace.ini:9: buffer ETB_1: there is no file "etb1.bin": its trace cannot be decoded`}, "EPSI"},
		{"a buffer cut short", []string{"0123456789abcde\n", "0123\n"}, []string{`trace.ini:3: buffer ETB_0: "etb0.bin" has 5 bytes, which are not whole frames of 16: the last 5 are left out`}, "EPSI"},
		{"an empty buffer", []string{"012\n", ""}, []string{`trace.ini:7: buffer ETB_1: "etb1.bin" is empty`}, "EPSI"},
		{"an unknown format", []string{"format=coresight", "format=tpiu"}, []string{`trace.ini:6: [b0]: format "tpiu" is not known: read as coresight`}, "EPSI"},
		{"a buffer of a name twice", []string{"name=ETB_1", "name=ETB_0"}, []string{`trace.ini:7: [b1]: there is a buffer ETB_0 already`, `trace.ini:22: [source_buffers]: ITM_0: there is no buffer "ETB_1"`}, "EPSI"},
		{"an unknown buffer", []string{"STM_0=ETB_0", "STM_0=ETB_7"}, []string{`trace.ini:21: [source_buffers]: STM_0: there is no buffer "ETB_7"`}, "EPSI"},
		{"a buffer without sources", []string{"ITM_0=ETB_1\n", ""}, []string{`trace.ini:7: buffer ETB_1 has no source`}, "EPS"},
		{"two sources without frames", []string{"PTM_1=ETB_0", "PTM_1=ETB_1"}, []string{`trace.ini:7: buffer ETB_1 holds one source's bytes, but 2 sources write to it: taken as those of PTM_1`}, "EPSI"},
		{"a trace ID twice", []string{"ETMTRACEIDR=17", "ETMTRACEIDR=16"}, []string{`sub/ptm_1.ini:7: PTM_1 has trace ID 0x10, as ETM_0 in the same buffer`}, "ESI"},
		{"a trace ID of 0 in frames", []string{"=0X00A00007", "=7"}, []string{`stm.ini:6: STM_0 writes to buffer ETB_0, whose frames need a trace ID, but has 0`}, "EPI"},
		{"a dump from elsewhere", []string{"file='mem/kernel.bin'", "file=../mem/kernel.bin"}, []string{`cpu_0.ini:10: memory at 0x8000: "../mem/kernel.bin" is not read: the name leads out of the snapshot's directory`}, "EPSI"},
		{"a dump at the root", []string{"file='mem/kernel.bin'", "file=/etc/passwd"}, []string{`cpu_0.ini:10: memory at 0x8000: "/etc/passwd" is not read: the name leads out`}, "EPSI"},
		{"a buffer from elsewhere", []string{"file=etb1.bin", `file=..\etb1.bin`}, []string{`trace.ini:9: buffer ETB_1: "..\\etb1.bin" is not read: the name leads out`}, "EPSI"},
		{"an ini that is no text", []string{"STMTCSR", "\x00\x01\x02"}, []string{`snapshot.ini:10: [device_list]: device device4: "stm.ini" is no text from line 6 on: left out`, `trace.ini:21: [source_buffers]: no device is called STM_0`}, "EPI"},
		{"a register twice", []string{"TRCIDR2(0x07A)=0x00000488\n", "TRCIDR2(0x07A)=0x00000488\ntrcidr2=0x488\nTRCIDR2=0x00000488\n"}, []string{`etm_0.ini:12: [regs]: trcidr2 stands here and in line 11: the first is taken`}, "EPSI"},
		{"a frequency of 0", []string{"frequency=25000000", "frequency=0"}, []string{`trace.ini:24: [timestamp]: frequency 0: a tick is taken as a nanosecond`}, "EPSI"},
		{"a bad frequency", []string{"frequency=25000000", "frequency=25M"}, []string{`trace.ini:24: [timestamp]: frequency "25M" is no number`}, "EPSI"},
	} {
		s, err := Open(nil, dir(t, x.replace...))
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		good := len(s.Problems) == len(x.want)
		for i, p := range s.Problems {
			good = good && i < len(x.want) && strings.HasPrefix(p.String(), x.want[i]) && p.Hint != ""
		}
		if !good {
			t.Errorf("%s: got %q\nwant %q", x.name, s.Problems, x.want)
		}
		var usable string
		for _, src := range s.Sources {
			if src.Usable {
				usable += src.Name[:1]
			}
		}
		if usable != x.sources {
			t.Errorf("%s: usable are %s, want %s", x.name, usable, x.sources)
		}
	}
}

// Hints that name what is there. It would catch a hint that does not look.
func TestHints(t *testing.T) {
	for _, x := range []struct {
		replace []string
		want    string
	}{
		{[]string{"file='mem/kernel.bin'", "file=mem/Kernel.bin"}, `there is "kernel.bin": case matters`},
		{[]string{"device4=stm.ini", "device4=Stm.ini"}, `there is "stm.ini": case matters`},
		{[]string{"[regs]\nSTMTCSR", "[reg]\nSTMTCSR"}, `the file's sections are [device] [reg]`},
		{[]string{"STM_0=ETB_0", "STM_0=ETB_7"}, "as ETB_0, ETB_1, DS"},
	} {
		s, err := Open(nil, dir(t, x.replace...))
		if err != nil || len(s.Problems) == 0 || !strings.Contains(s.Problems[0].Hint, x.want) {
			t.Errorf("%v, %+v, want the hint %q", err, s.Problems, x.want)
		}
	}
}

// A buffer of one source stays one's. It would catch bytes of one source given
// to two.
func TestOneSource(t *testing.T) {
	s, err := Open(nil, dir(t, "PTM_1=ETB_0", "PTM_1=ETB_1"))
	if b, _ := s.Buffer("ETB_1"); err != nil || len(b.Sources) != 1 || s.Sources[b.Sources[0]].Name != "PTM_1" {
		t.Errorf("%v, %+v", err, b)
	}
}

// What leaves nothing to read is an error that names the file. It would catch
// an empty snapshot that is taken for a good one.
func TestOpenErrors(t *testing.T) {
	empty := t.TempDir()
	for _, x := range []struct{ dir, want string }{
		{empty, empty + `+0x0: there is no file "snapshot.ini"`},
		{filepath.Join(empty, "none"), `there is no file "snapshot.ini"`},
		{dir(t, "[device_list]", "[devices]"), `snapshot.ini+0x0: no device can be read from it: snapshot.ini: it has no section [device_list]`},
	} {
		_, err := Open(nil, x.dir)
		var fe *badfile.Error
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
	s, err := Open(nil, dir(t))
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(s.Dir, "etb0.bin"))
	_, err = s.ReadBuffer(&s.Buffers[0])
	if want := s.Dir + "/etb0.bin+0x0: cannot be read: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v does not wrap its cause", err)
	}
}

// Registers that a snapshot may leave out have the values that writers count
// on. It would catch a default that is lost.
func TestDefaults(t *testing.T) {
	s, err := Open(nil, dir(t, "type=ETM4.2", "type=ete", `TRCIDR1="0x4100F424"`, ""))
	if err != nil || len(s.Problems) > 0 {
		t.Fatal(err, s.Problems)
	}
	c := s.Sources[0].Config
	major, minor := c.Version()
	if c.Protocol != coresight.ETE || c.V4.IDR1 != 0x4100F403 || major != 1 || minor != 0 {
		t.Errorf("%+v", c)
	}
}

// A snapshot written on Windows: backslashes in names. It would catch names
// that are looked up as they are.
func TestBackslashes(t *testing.T) {
	s, err := Open(nil, dir(t, "file='mem/kernel.bin'", `file=mem\kernel.bin`, "device3=sub/ptm_1.ini", `device3=sub\ptm_1.ini`))
	if err != nil || len(s.Problems) > 0 || len(s.Sources) != 4 {
		t.Errorf("%v, %q", err, s.Problems)
	}
}

// What is no regular file is not read: a named pipe would never end. It would
// catch an Open that hangs.
func TestNoRegularFile(t *testing.T) {
	root := dir(t, "file=etb1.bin", "file=mem")
	s, err := Open(nil, root)
	if err != nil || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].What, "no regular file") {
		t.Errorf("%v, %q", err, s.Problems)
	}
}

// unread is a tree in which a file that has no size is not to be read, as a
// named pipe is not, where reading waits for ever.
type unread struct {
	mapTree
	t *testing.T
}

func (u unread) read(name string, off, n int64) ([]byte, error) {
	if _, err := u.size(name); err != nil {
		u.t.Errorf("%s is read, but it has no size", name)
	}
	return u.mapTree.read(name, off, n)
}

// What has no size is not read. It would catch an Open that waits for a pipe.
func TestPipe(t *testing.T) {
	files := archive(strings.Replace(whole, "file=etb1.bin", "file=gone.bin", 1))
	files["trace.ini"] = bytes.Replace(files["trace.ini"], []byte("file=ds.bin"), []byte("file=gone2.bin"), 1)
	s, err := open("pipe", unread{mapTree(files), t})
	if err != nil || len(s.Problems) != 2 {
		t.Errorf("%v, %q, want 2 problems", err, s.Problems)
	}
}

// A file that is larger than any memory, as one with holes may be: what is read
// of it is bounded. It would catch an allocation of what a file's size says.
func TestLargeFiles(t *testing.T) {
	root := dir(t)
	for _, name := range []string{"etb0.bin", "mem/kernel.bin"} {
		if err := os.Truncate(filepath.Join(root, name), 1<<41); err != nil {
			t.Skipf("no files with holes here: %v", err)
		}
	}
	s, err := Open(nil, root)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(s.Problems)
	for _, want := range []string{"etb0.bin\" has 2199023255552 bytes, at most 1073741824 are read", "of all dumps at most 0x100000000 bytes are read"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	var sum int64
	for _, d := range s.Dumps {
		sum += d.Length
	}
	if sum > maxMemory || s.Buffers[0].Size != maxBuffer {
		t.Errorf("%d bytes of dumps, %d of the buffer", sum, s.Buffers[0].Size)
	}
}

// What is wrong with memory that cores share is said once. It would catch the
// same line of every core.
func TestSharedDump(t *testing.T) {
	s, err := Open(nil, dir(t, "length=0x10\n[dump.init]", "length=0x80\n[dump.init]", "length=0x10\n-- etm_0", "length=0x80\n-- etm_0"))
	if err != nil || len(s.Problems) != 1 {
		t.Errorf("%v, %q, want 1 problem", err, s.Problems)
	}
}

// The list of problems is bounded, and says how many there are. It would catch
// one that grows with rubbish.
func TestProblemsBounded(t *testing.T) {
	s, err := Open(nil, dir(t, "[clusters]", strings.Repeat("rubbish\n", 5000)+"[clusters]"))
	if err != nil || len(s.Problems) != maxFileProblems+1 {
		t.Fatalf("%v, %d problems, want %d", err, len(s.Problems), maxFileProblems+1)
	}
	if last, want := s.Problems[maxFileProblems].String(), "snapshot.ini: 4990 more things are wrong with it"; last != want {
		t.Errorf("%q, want %q", last, want)
	}
}

// mapTree is a tree in memory, for fuzzing.
type mapTree map[string][]byte

func (m mapTree) size(name string) (int64, error) {
	b, ok := m[path.Clean(name)]
	if !ok {
		return 0, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return int64(len(b)), nil
}

func (m mapTree) read(name string, off, n int64) ([]byte, error) {
	b, ok := m[path.Clean(name)]
	if !ok || off < 0 || n < 0 || off+n > int64(len(b)) {
		return nil, fmt.Errorf("%s: no %d bytes at %d", name, n, off)
	}
	return slices.Clone(b[off : off+n]), nil
}

func (m mapTree) open(name string) (File, error) {
	b, ok := m[path.Clean(name)]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return unclosed{bytes.NewReader(b)}, nil
}

// unclosed is a File that needs no closing.
type unclosed struct{ io.ReaderAt }

func (unclosed) Close() error { return nil }

// readDump returns the bytes of a dump.
func readDump(s *Snapshot, d *Dump) ([]byte, error) {
	f, err := s.OpenDump(d)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, d.Length)
	n, err := f.ReadAt(b, d.Off)
	if n == len(b) {
		err = nil
	}
	return b[:n], err
}

func (m mapTree) names(string) []string { return nil }

// FuzzSnapshot reads any text as a snapshot's files. It would catch a panic, a
// read beyond a file, and what is called usable but is not.
func FuzzSnapshot(f *testing.F) {
	f.Add(whole)
	f.Add("-- snapshot.ini --\n[device_list]\na=b\n-- b --\n[device]\nname=x\n[dump]\nfile=b\naddress=1\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := open("fuzz", mapTree(archive(text)))
		if err != nil {
			return
		}
		for i := range s.Buffers {
			if b := &s.Buffers[i]; !b.Missing {
				if _, err := s.ReadBuffer(b); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i := range s.Dumps {
			if _, err := readDump(s, &s.Dumps[i]); err != nil {
				t.Fatal(err)
			}
		}
		for _, src := range s.Sources {
			if err := src.Config.Validate(); src.Usable && err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range s.Problems {
			if p.What == "" || p.Hint == "" || p.File == "" || p.Line < 0 {
				t.Fatalf("%+v", p)
			}
		}
	})
}
