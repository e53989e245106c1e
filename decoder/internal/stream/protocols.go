package stream

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/coresight/itm"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/coresight/stm"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/pt"
)

// The table of protocols. A new one is a row here, and functions in a file of its
// own beside this one.

// Protocols returns all protocols, in a fixed order.
func Protocols() []*Protocol {
	return []*Protocol{IntelPT, ETMv4, ETE, ETMv3, PTM, STM, ITM}
}

// The protocols. They do not change.
var (
	// IntelPT is Intel Processor Trace (Intel SDM, volume 3C, chapter "Intel
	// Processor Trace").
	IntelPT = &Protocol{
		Name: "Intel PT", Sync: "PSB", RawFlag: "pt", AuxType: 1, RecorderTime: true,
		SyncHint: "this is no Intel PT, or too little of it: perf record -e intel_pt/psb_period=0/ puts them closer",
		Set:      X86, Mode: isa.Mode64, Executes: true, Margin: pt.Margin,
		Points: pointsPT, Rules: rulesPT, Events: eventsPT, Packets: packetsPT,
		LastMode: pt.LastMode, Identity: identityPT, Accepts: acceptsPT,
	}
	// ETMv4 is Arm's Embedded Trace Macrocell, version 4 (IHI0064).
	ETMv4 = &Protocol{
		Name: "ETMv4", Sync: "A-Sync", SyncHint: syncHint("ETMv4"), Oftener: oftener("ETMv4"), Unit: coresight.ETMv4, TraceIDs: true, Pieces: true,
		Set: Arm, Mode: isa.ModeA64, Executes: true, Margin: etmv4.Margin, Ignored: "\x70", ASync: 11,
		Points: pointsV4, Rules: rulesOf(v4Config), Events: eventsOf(v4Config, etmv4.NewDecoder), Packets: packetsV4, Stamps: stampsV4, Timed: timedV4, GoesOn: goesOnV4,
		Instructions: instructionsArm, FirstMode: firstModeCore, Identity: identityV4, Memories: memoriesV4,
	}
	// ETE is Arm's Embedded Trace Extension (DDI0487, part D).
	ETE = &Protocol{
		Name: "ETE", Sync: "A-Sync", SyncHint: syncHint("ETE"), Oftener: oftener("ETE"), Unit: coresight.ETE, TraceIDs: true, Pieces: true,
		Set: Arm, Mode: isa.ModeA64, Executes: true, Margin: etmv4.Margin, Ignored: "\x70", ASync: 11, Silent: true,
		Points: pointsV4, Rules: rulesOf(v4Config), Events: eventsOf(v4Config, etmv4.NewDecoder), Packets: packetsV4, Stamps: stampsV4, Timed: timedV4, GoesOn: goesOnV4,
		Instructions: instructionsArm, FirstMode: firstModeCore, Identity: identityV4, Memories: memoriesV4,
	}
	// ETMv3 is Arm's Embedded Trace Macrocell, version 3 (IHI0014).
	ETMv3 = &Protocol{
		Name: "ETMv3", Sync: "A-sync", SyncHint: syncHint("ETMv3"), Oftener: oftener("ETMv3"), Unit: coresight.ETMv3, TraceIDs: true, Pieces: true,
		Set: Arm, Mode: isa.ModeT32, Executes: true, Margin: etmv3.Margin, Ignored: "\x66", ASync: 5,
		Points: pointsV3, Rules: rulesOf(v3Config), Events: eventsOf(v3Config, etmv3.NewDecoder), Packets: packetsV3, Timed: timedV3, GoesOn: goesOnV3,
		Instructions: instructionsArm, FirstMode: firstModeCore, Narrow: narrowV3, Memories: memoriesV3,
	}
	// PTM is Arm's Program Flow Trace (IHI0035).
	PTM = &Protocol{
		Name: "PTM", Sync: "A-sync", SyncHint: syncHint("PTM"), Oftener: oftener("PTM"), Unit: coresight.PTM, TraceIDs: true, Pieces: true,
		Set: Arm, Mode: isa.ModeA32, Executes: true, Margin: ptm.Margin, Ignored: "\x66", ASync: 5,
		Points: pointsPTM, Rules: rulesOf(ptmConfig), Events: eventsOf(ptmConfig, ptm.NewDecoder), Packets: packetsPTM, Timed: timedV3, GoesOn: goesOnPTM,
		Instructions: instructionsPTM, FirstMode: firstModeCore, Narrow: narrowV3, Memories: memoriesPTM,
	}
	// STM is Arm's System Trace Macrocell (IHI0054; MIPI STPv2).
	STM = &Protocol{
		Name: "STM", Sync: "Async", SyncHint: syncHint("STM"), Oftener: oftener("STM"), Unit: coresight.STM, TraceIDs: true, Pieces: true,
		Set: Arm, Mode: isa.ModeA64, ElementNames: map[string]string{"TIMESTAMP": "SW_TIMESTAMP"},
		Points: pointsSTM, Rules: noRules, Events: eventsOf(registers, stm.NewDecoder), Packets: packetsSTM,
		Instructions: instructionsArm, FirstMode: firstModeAsked, Memories: noMemories,
	}
	// ITM is Arm's Instrumentation Trace Macrocell (DDI0403, appendix "Debug ITM
	// and DWT Packet Protocol").
	ITM = &Protocol{
		Name: "ITM", Sync: "Sync", SyncHint: syncHint("ITM"), Oftener: oftener("ITM"), Unit: coresight.ITM, TraceIDs: true, Pieces: true,
		Set: Arm, Mode: isa.ModeT32, ElementNames: map[string]string{"SWTRACE": "ITMTRACE", "TIMESTAMP": "ITMTRACE"},
		Points: pointsITM, Rules: noRules, Events: eventsOf(registers, itm.NewDecoder), Packets: packetsITM,
		Instructions: instructionsArm, FirstMode: firstModeAsked, Memories: noMemories,
	}
)

// syncHint says what to do about a stream of CoreSight's without a sync point.
func syncHint(name string) string {
	return "this is no trace of " + name + ", or too little of it: have the trace unit synchronise more often (" + syncRegister(name) + ")"
}

// oftener is Protocol.Oftener of a unit of CoreSight's.
func oftener(name string) string {
	if name == "ITM" {
		return "set " + syncRegister(name) + " to 1, and ITM_TCR.SYNCENA"
	}
	return "set the unit's " + syncRegister(name) + " lower"
}

// syncRegister names what says how often a unit of CoreSight's synchronises; a lower value is
// more often. See Arm IHI0064 (TRCSYNCPR), IHI0014 and IHI0035 (ETMSYNCFR), IHI0054 (STMSYNCR),
// and DDI0403 (DWT_CTRL, of which 0 is never). name is the protocol's.
func syncRegister(name string) string {
	switch name {
	case "ETMv3", "PTM":
		return "ETMSYNCFR"
	case "STM":
		return "STMSYNCR"
	case "ITM":
		return "DWT_CTRL.SYNCTAP"
	}
	return "TRCSYNCPR"
}
