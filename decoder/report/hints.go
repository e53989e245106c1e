package report

import (
	"fmt"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/pt"
)

// Where the kernel puts modules and BPF programs on x86-64
// (Documentation/arch/x86/x86_64/mm.rst, v6.12, "module mapping space").
const (
	modulesFrom = 0xffffffffa0000000
	modulesTo   = 0xffffffffff000000
)

// recorder is who made a recording: what there is to do differs.
type recorder uint8

const (
	perfOfPT  recorder = iota // perf, of Intel PT; or raw trace of it
	perfOfArm                 // the same of a CoreSight unit
	debugger                  // what saved a snapshot
	numRecorders
)

// GapHint says what to do about a gap. It is "" for no gap alone.
func GapHint(s *decoder.Session, g *event.Gap) string {
	by := debugger
	st := s.Streams()[g.Stream]
	if s.Meta().Kind != decoder.KindSnapshot {
		if by = perfOfArm; st.Protocol == decoder.IntelPT {
			by = perfOfPT
		}
	}
	switch {
	case atCut(st, g):
		return cutHint
	case g.Reason == event.NoSync && by != debugger && st.Head == st.Size && len(st.Losses) == 0:
		return st.Protocol.SyncHint
	case g.Reason == event.NoSync && by != perfOfPT:
		return wrapped + st.Protocol.Oftener
	case by == debugger:
	case g.Reason == event.NoText:
		return codeHint(s, g)
	case g.Reason == event.BadPacket && by == perfOfPT:
		unit, _ := st.Unit.(pt.Config)
		return defectHint(unit.Model)
	case st.Guest != 0 && (g.Reason == event.Mismatch || g.Reason == event.BadInsn || g.Reason == event.Reserved):
		return "code and trace of the guest do not fit: see whether its recording is of the same boot, and whether the offset behind --guest PID=FILE is right"
	case (g.Reason == event.Lost || g.Reason == event.Truncated) && g.What == perfdata.LossSnapshot.String():
		return "snapshots and AUX samples keep the newest trace only: record without -S and --aux-sample to have all of it"
	}
	return hintOf(g.Reason, by)
}

// wrapped begins what to do about trace in front of a sync point.
const wrapped = "a buffer that wrapped around begins anywhere: for sync points more often, "

// cutHint is what to do where the file ends before the trace does.
const cutHint = "the file ends before the trace does: copy the recording whole, or record again and let the recorder end by itself"

// atCut reports whether g comes of a file that was cut short.
func atCut(st *decoder.Stream, g *event.Gap) bool {
	return st.Missing > 0 && g.Off >= st.Size-maxPacket && (g.Reason == event.Lost || g.Reason == event.Truncated)
}

// maxPacket is how many bytes a packet has at most, or several that belong together, where a
// file may be cut.
const maxPacket = 64

// missingAt says how many bytes of trace a file lacks where it was cut short; "" elsewhere.
func missingAt(st *decoder.Stream, off int64) string {
	if st.Missing == 0 || off < st.Size {
		return ""
	}
	return ", " + plural.Count(st.Missing, "byte") + plural.Word(st.Missing, " is", " are") + " missing"
}

// codeHint is GapHint where code is missing.
func codeHint(s *decoder.Session, g *event.Gap) string {
	switch {
	case g.What == flow.GuestGap:
		return guestHint(s, g)
	case g.IP >= modulesFrom && g.IP < modulesTo && len(s.Text().Image().Ranges()) > 0 && s.KernelSymbol(g.IP, g.Time.Likely()) == "":
		return "code of a module or BPF program that came during the recording is in no copy made before: copy /proc/kcore afterwards and give it with --kcore, or the module's with --text FILE@ADDR"
	case !s.Kernel(g.IP):
		if err := s.Unreadable(g.IP); err != nil {
			return fmt.Sprintf("%v: give the right one with --symfs DIR or --buildid-dir DIR", err)
		}
		return "code of a program: give its files with --symfs DIR or --buildid-dir DIR, or raw with --text FILE@ADDR"
	}
	switch {
	case s.Foreign() != "" && s.Text().Placement().Held > 0:
		return "the kernel's code given is of another boot or another kernel: give the copy of /proc/kcore that was made in the same boot with --kcore FILE"
	case len(s.Text().Image().Ranges()) > 0:
		return "the kernel's code given has none for this address at that time: give a whole copy of /proc/kcore of the same boot with --kcore FILE, or raw code with --text FILE@ADDR"
	}
	return hintOf(event.NoText, perfOfPT)
}

// defectHint is GapHint for bytes of Intel PT that are no packet: m is the CPU's model.
func defectHint(m pt.Model) string {
	list := m.BadPackets()
	switch {
	case m == (pt.Model{}):
		return "bytes that are no packet come from a defect of the CPU, or the trace was damaged: say which CPU it was with --cpu-model FAMILY/MODEL, as lscpu prints them (6/85 is known to put a stray byte behind a packet)"
	case len(list) > 0:
		return fmt.Sprintf("CPU model %s is known for defects of its trace (%s), which are worked around: the CPU is another one (--cpu-model FAMILY/MODEL), or the trace was damaged on its way", m, strings.Join(list, ", "))
	}
	return fmt.Sprintf("CPU model %s is not known for defects that make bad packets: if the CPU is another one, say so with --cpu-model FAMILY/MODEL; else the trace was damaged on its way", m)
}

// hintOf returns what to do about a gap of a reason, whatever else is known of it.
func hintOf(r event.Reason, by recorder) string {
	if r >= event.NumReasons {
		return ""
	}
	h := hints[r]
	if h[by] == "" && by != perfOfPT {
		return h[perfOfPT]
	}
	return h[by]
}

// hints is what to do about gaps, by reason and by recorder. Where nothing stands for a
// recorder, that of perf and Intel PT holds.
var hints = [event.NumReasons][numRecorders]string{
	event.BadPacket: {
		perfOfPT:  "bytes that are no packet: the trace was damaged on its way",
		perfOfArm: "bytes that are no packet: the trace was damaged on its way, or the unit was configured otherwise than the recording says (info prints how)",
		debugger:  "bytes that are no packet: are the registers in the source's ini file those of the run, and is the buffer whole, with its format stated (tpiu, dstream or source data)?",
	},
	event.Truncated: {
		perfOfPT: "record with a larger AUX buffer: perf record -m ,64M",
		debugger: "the buffer ends inside of a packet: stop and flush the trace unit before the buffer is saved",
	},
	event.OverflowGap: {
		perfOfPT:  "the CPU made trace faster than it could be stored: trace less (-e intel_pt//k, address filters) or with fewer timing packets",
		perfOfArm: "the trace unit made trace faster than it could be stored: trace less (-e cs_etm//k, address filters) or without cycle counts",
		debugger:  "the trace unit made trace faster than it could be stored: trace less, with address filters or without cycle counts",
	},
	event.Lost: {
		perfOfPT: "record with a larger AUX buffer: perf record -m ,64M",
		debugger: "the trace unit made trace faster than it could be stored: trace less, with address filters or without cycle counts",
	},
	event.NoText: {
		perfOfPT: "give the code with --kcore FILE, or raw with --text FILE@ADDR",
		debugger: "code there is in no dump of the snapshot: add a [dump] section to the core's ini file, or give it with --text FILE@ADDR",
	},
	event.BadInsn:  {perfOfPT: otherCode, debugger: otherDumps},
	event.Mismatch: {perfOfPT: otherCode, debugger: otherDumps},
	event.Reserved: {perfOfPT: otherCode, debugger: otherDumps},
	event.NoSync: {
		perfOfPT:  wrapped + "record with -e intel_pt/psb_period=0/k",
		perfOfArm: wrapped + "have the unit synchronise more often", // oftener says how
		debugger:  wrapped + "have the unit synchronise more often",
	},
	event.Loop: {
		perfOfPT: "the code goes in a circle without a branch that the trace tells of, so it is not what ran: check tells whether the code is of the same boot, and what changed without a record",
		debugger: otherDumps,
	},
	event.NoCall: {
		perfOfPT:  "a return whose call lies before the trace or before another gap: see what the gap before it needs, or record with -e intel_pt/noretcomp=1/k, which traces where each return goes",
		perfOfArm: "a return whose call lies before the trace or before another gap: see what the gap before it needs, or record without the unit's return stack",
		debugger:  "a return whose call lies before the trace or before another gap: see what the gap before it needs, or switch the unit's return stack off (TRCCONFIGR.RS, ETMCR bit 29)",
	},
	event.UndecidableFlow: {perfOfPT: "record without notnt=1"},
	event.NoPath: {
		perfOfPT: "the trace unit counted instructions and did not tell their branches (Q elements): switch that off, TRCCONFIGR.QE = 0",
	},
	event.NoAddress: {
		perfOfPT: "the trace does not say where an exception went: trace the exception level of its handler, too; what info prints of the unit's configuration must be the unit's",
	},
}

// What to do where code and trace contradict each other.
const (
	otherCode  = "code and trace do not fit: check tells whether the code is of the same boot, and what changed without a record"
	otherDumps = "dumps and trace do not fit: is the memory from the same run, and the core the one that the source traces?"
)
