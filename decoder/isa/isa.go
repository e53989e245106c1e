// Package isa names what a walker must know of an instruction, whatever the
// instruction set: its length, its Class, and its static target. A walker is what follows
// a trace through code: decoder/internal/flow. What trace protocols differ in for it is
// data too: Rules.
//
// It imports only the standard library, and reads no instructions. The instruction sets
// are in the folders below it: x86, a64 and a32. Each has a type Decoder, which satisfies
// the interface of that name here.
package isa

// Class is what an instruction does to the flow.
type Class uint8

// The classes. An instruction set maps each instruction to exactly one.
const (
	Other        Class = iota // goes on to the next instruction
	Jump                      // direct, unconditional
	Cond                      // direct, conditional: Jcc, JCXZ, LOOP; B.cond, CBZ, TBZ; WLS, LE
	Call                      // direct call; pushes the next address
	JumpInd                   // indirect jump
	CallInd                   // indirect call; pushes the next address
	Return                    // near return
	FarJump                   // far jump or call, direct or indirect
	FarReturn                 // far return, IRET, SYSRET, SYSEXIT, ERETS, ERETU, UIRET; ERET
	Syscall                   // SYSCALL, SYSENTER; SVC, HVC, SMC
	SoftInt                   // INT n, INT1, INTO; HLT: leaves by an exception with its own address
	Break                     // INT3; BRK, BKPT: a breakpoint
	VMEnter                   // VMLAUNCH, VMRESUME
	JumpAbs                   // JMPABS: direct, but always traced with its target
	Undefined                 // UD0, UD1, UD2; UDF, DCPSn, DRPS: always faults
	Barrier                   // ISB, TSTART: no branch, but a waypoint in ETMv4
	Wait                      // WFI, WFE: a waypoint as configured
	SetSpace                  // MOV CR3; MSR TTBRn: goes on to the next instruction, may change the address space or end tracing
	TraceControl              // WRMSR; MSR TRFCR: goes on, may start or end tracing
	NumClasses
)

var classNames = [NumClasses]string{
	"other", "jump", "cond", "call", "jump-indirect", "call-indirect", "return",
	"far-jump", "far-return", "syscall", "int", "break", "vm-enter", "jumpabs",
	"undefined", "barrier", "wait", "set-space", "trace-control",
}

// String returns the class's name.
func (c Class) String() string {
	return nameOf(classNames[:], uint8(c))
}

// ClassSet is a set of classes, bit 1<<c for class c.
type ClassSet uint32

// Set returns the set of the classes given.
func Set(cs ...Class) ClassSet {
	var s ClassSet
	for _, c := range cs {
		s |= 1 << c
	}
	return s
}

// Has reports whether c is in s.
func (s ClassSet) Has(c Class) bool { return s>>c&1 != 0 }

// Mode is an execution mode: it decides how bytes are read as instructions.
type Mode uint8

// The modes. Mode16, Mode32 and Mode64 are x86's.
const (
	ModeUnknown Mode = iota
	Mode16
	Mode32
	Mode64
	ModeA64
	ModeA32
	ModeT32
	NumModes
)

// ModeSet is a set of modes, bit 1<<m for mode m.
type ModeSet uint32

// Both kinds of sets have a bit for each member; these do not compile otherwise.
const (
	_ = uint(32 - NumClasses)
	_ = uint(32 - NumModes)
)

// Has reports whether m is in s.
func (s ModeSet) Has(m Mode) bool { return s>>m&1 != 0 }

var modeNames = [NumModes]string{"?", "x86-16", "x86-32", "x86-64", "a64", "a32", "t32"}

// String returns the mode's name.
func (m Mode) String() string {
	return nameOf(modeNames[:], uint8(m))
}

// RaisesSyscalls reports whether a system call of mode m is an exception, which the trace
// states. So it is for Arm's SVC (DDI0487, "SVC"). x86's SYSCALL goes to the kernel as a jump
// does.
func (m Mode) RaisesSyscalls() bool { return m == ModeA64 || m == ModeA32 || m == ModeT32 }

// Flags refine an Insn.
type Flags uint8

// The flags of an instruction.
const (
	FlagRep         Flags = 1 << iota // repeated string instruction: may be interrupted at its own address
	FlagZeroCall                      // direct call whose target is the next instruction: pushes nothing on PT's return stack
	FlagConditional                   // carries a condition though its class alone does not say so (A32 conditional return)
	FlagPTWrite                       // PTWRITE
	FlagTx                            // XBEGIN, XEND, XABORT, XACQUIRE or XRELEASE form; TSTART, TCOMMIT, TCANCEL
	FlagNop                           // does nothing: NOP forms, ENDBR, BTI
	FlagInterwork                     // the static target executes in the other one of A32 and T32
)

// Insn is one instruction as a walker needs it.
type Insn struct {
	Len    uint8  // length, bytes
	Class  Class  //
	Flags  Flags  //
	Target uint64 // Jump, Cond, Call, JumpAbs: static target, else 0; Syscall: 0
}

// Status says whether Decode read an instruction.
type Status uint8

// The results of Decode.
const (
	OK    Status = iota
	Short        // text ends inside the instruction
	Bad          // these bytes are no instruction
)

// Decoder reads instructions of one instruction set. Implementations are
// stateless and may be shared between goroutines.
type Decoder interface {
	// Decode reads the instruction at the front of text, which lies at
	// address addr and executes in mode m, into in.
	Decode(in *Insn, text []byte, addr uint64, m Mode) Status
	// MaxLen is the length of the longest instruction, bytes.
	MaxLen() int
}

// UpperHalf is the address at which the upper half of a 64-bit address space begins. It is
// the kernel's in x86-64 and A64, and user programs are in the lower half. Every address
// space has the same kernel in it.
const UpperHalf uint64 = 1 << 63

// ReturnRule says how a protocol tells where a near return went.
type ReturnRule uint8

// The return rules.
const (
	// ReturnsByTarget: every return has a Target.
	ReturnsByTarget ReturnRule = iota
	// ReturnsCompressed: a return with an outcome in hand is compressed, spends
	// it, and goes to the popped address; else a Target follows (Intel PT).
	// Every near return pops, compressed or not.
	ReturnsCompressed
	// ReturnsByOutcome: an indirect branch spends an outcome. A Target comes before
	// the next outcome, unless the branch went to the newest address on the return
	// stack. Only then that address is popped (ETMv4 and ETE with TRCCONFIGR.RS).
	ReturnsByOutcome
)

// Rules is what trace protocols differ in for the walker: which instructions spend an
// outcome, and how it is told where branches went.
type Rules struct {
	// Waypoints are the classes that spend an outcome.
	Waypoints ClassSet
	// Raises are the classes that enter an exception whose source is the next
	// address (SVC). They have no Target.
	Raises ClassSet
	// Syncs are the classes that synchronise the CPU with what was written to
	// code. If there are any, exceptions do so too.
	Syncs ClassSet
	// AlwaysConditional are the modes in which any waypoint may have the outcome
	// "not taken", since its own bits do not show all of its condition (T32: IT
	// blocks).
	AlwaysConditional ModeSet
	// Returns says how the trace tells where a near return went.
	Returns ReturnRule
	// Stack is the depth of the return stack, entries, at most MaxStack; 0 stands
	// for MaxStack. A full stack drops the oldest.
	Stack int

	// NoOutcomes: the trace was told to leave the waypoints' outcomes out, so
	// that where one goes cannot be known (Intel PT: DisTNT).
	NoOutcomes bool
	// EntrySource: a VM entry that ends tracing may state its own address before that, in
	// the way in which an interrupt there would (Intel PT: erratum SKD022).
	EntrySource bool
	// AbortElsewhere: the target of the branch before a transaction's abort may
	// be wrong; where the abort came is right (Intel PT: erratum BDM64).
	AbortElsewhere bool
	// PopsFirst: the return stack may foretell the target of a call through a
	// register. The trace unit then pops that target before it pushes the call's
	// own return address (PFT). ETMv4 and ETE push first.
	PopsFirst bool
	// SilentBranches: on the way to the source of an Async branches spend no
	// outcome and are not taken. A source behind the flow says only that nothing
	// ran (ETMv4 and ETE: DDI0487, appendix "Embedded Trace Extension: analyser",
	// "Exception element").
	SilentBranches bool
	// DebugsToo: what is called a breakpoint's exception may be that of a hardware
	// breakpoint or of a single step (ETMv4 and ETE: DDI0487, "Exception
	// instruction trace packet", type Instruction debug).
	DebugsToo bool
	// StraightOnReserved holds modes in which the flow goes straight on, as a guess, where the
	// trace cannot be right. It says that a branch without a condition was not
	// taken, or that no exception came where one must. What lies there is not what
	// ran (ETMv4 and ETE: DDI0487, "Instruction and exception classification").
	StraightOnReserved ModeSet
}

// MaxStack is the deepest return stack that any trace unit has, entries: Intel
// PT's (Intel SDM, volume 3C, "Indirect Transfer Compression for Returns (RET)").
const MaxStack = 64

// nameOf returns name i of names, or "?".
func nameOf(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return "?"
}
