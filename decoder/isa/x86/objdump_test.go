package x86

import (
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
)

// dumped is one line of objdump -d, with the instruction's bytes. Its Asm has
// prefixes before the mnemonic.
type dumped struct {
	isatest.Line
	code []byte
}

// tool is the system's objdump.
var tool = isatest.Tool{Name: "objdump", Package: "binutils"}

// objdump runs objdump over a file with args, and gives each line of code to f,
// which may not keep its bytes.
func objdump(t testing.TB, f func(dumped), args ...string) {
	t.Helper()
	var code []byte
	tool.Run(t, func(l isatest.Line) {
		var err error
		if code, err = hex.AppendDecode(code[:0], []byte(strings.ReplaceAll(l.Code, " ", ""))); err != nil {
			t.Fatalf("%x: code %q: %v", l.Addr, l.Code, err)
		}
		f(dumped{l, code})
	}, args...)
}

// asmPrefixes are words objdump prints before a mnemonic.
var asmPrefixes = map[string]bool{
	"bnd": true, "notrack": true, "lock": true, "rep": true, "repz": true, "repnz": true,
	"data16": true, "data32": true, "addr16": true, "addr32": true, "xacquire": true, "xrelease": true,
	"cs": true, "ds": true, "es": true, "fs": true, "gs": true, "ss": true, "{vex}": true, "{evex}": true,
}

// mnemonic splits asm in mnemonic and operands. Where there are only prefixes
// it is "".
func mnemonic(asm string) (name, operands string) {
	if i := strings.IndexAny(asm, "#<"); i >= 0 {
		asm = asm[:i]
	}
	for {
		asm = strings.TrimLeft(asm, " ")
		name, operands, _ = strings.Cut(asm, " ")
		if !asmPrefixes[name] && !strings.HasPrefix(name, "rex") {
			name, _, _ = strings.Cut(name, ",") // jne,pn
			return name, strings.TrimSpace(operands)
		}
		asm = operands
	}
}

// asmClass is the class of an instruction by objdump's AT&T syntax, and its
// target where it prints one.
func asmClass(name, operands string) (c isa.Class, target uint64) {
	trim := strings.TrimRight(name, "qlw") // size suffix; of lcall too
	switch {
	case name == "":
		return isa.Other, 0
	case strings.HasPrefix(name, "jmp"), strings.HasPrefix(name, "call"):
		c, ind := isa.Jump, isa.JumpInd
		if name[0] == 'c' {
			c, ind = isa.Call, isa.CallInd
		}
		if strings.HasPrefix(operands, "*") {
			return ind, 0
		}
		target, _ = strconv.ParseUint(strings.TrimPrefix(operands, "0x"), 16, 64)
		return c, target
	case name[0] == 'j', strings.HasPrefix(name, "loop"):
		target, _ = strconv.ParseUint(strings.TrimPrefix(operands, "0x"), 16, 64)
		return isa.Cond, target
	case trim == "ljmp", trim == "lca":
		return isa.FarJump, 0
	case trim == "ret":
		return isa.Return, 0
	case trim == "lret", trim == "iret", trim == "sysret", trim == "sysexit":
		return isa.FarReturn, 0
	case trim == "mov" && strings.HasSuffix(operands, ",%cr3"):
		return isa.SetSpace, 0
	}
	switch name {
	case "uiret", "rsm":
		return isa.FarReturn, 0
	case "syscall", "sysenter":
		return isa.Syscall, 0
	case "int", "int1", "into", "icebp":
		return isa.SoftInt, 0
	case "int3":
		return isa.Break, 0
	case "ud0", "ud1", "ud2":
		return isa.Undefined, 0
	case "vmlaunch", "vmresume", "seamret":
		return isa.VMEnter, 0
	case "wrmsr", "wrmsrns", "wrmsrlist", "xsaves", "xsaves64", "xrstors", "xrstors64":
		return isa.TraceControl, 0
	}
	return isa.Other, 0
}
