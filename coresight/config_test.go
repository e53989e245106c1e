package coresight

import (
	"slices"
	"strings"
	"testing"
)

// Register values as real parts have them, and what the fields in them are. It
// would catch a bit counted wrong in any accessor that is named here.
func TestRegisters(t *testing.T) {
	a9 := Config{Protocol: PTM, V3: ETMv3Registers{IDR: 0x411CF301}}
	a15 := Config{Protocol: PTM, V3: ETMv3Registers{IDR: 0x411CF312, CR: 1<<29 | 1<<28 | 3<<14 | 1<<12, CCER: 0x3FC00000}}
	asked := a15
	asked.V3.CCER &^= 1 << 23
	a7 := Config{Protocol: ETMv3, V3: ETMv3Registers{IDR: 0x410CF250}}
	a53 := Config{Protocol: ETMv4, V4: ETMv4Registers{IDR0: 0x28000EA1, IDR1: 0x4100F403, IDR2: 0x00000488, CONFIGR: 0x10C1, TRACEIDR: 0x90}}
	v41 := a53
	v41.V4.IDR1, v41.V4.IDR2 = 0x4200F410, 0x20001088
	ete := Config{Protocol: ETE, V4: ETMv4Registers{DEVARCH: 0x47735a13, IDR0: 0x28c1cea1, IDR1: 0x4100fff0, IDR2: 0xd0001088, CONFIGR: 0x48001, IDR8: 6}}
	ete0 := Config{Protocol: ETE, V4: ETMv4Registers{DEVARCH: 0x47705A13, IDR0: 0x4801cea1}}

	version := func(c Config) [2]uint8 { major, minor := c.Version(); return [2]uint8{major, minor} }
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"PTM 1.0", version(a9), [2]uint8{1, 0}},
		{"PTM 1.1", version(a15), [2]uint8{1, 1}},
		{"ETM 3.5", version(a7), [2]uint8{3, 5}},
		{"ETM 4.0", version(a53), [2]uint8{4, 0}},
		{"ETM 4.1", version(v41), [2]uint8{4, 1}},
		{"ETE 1.3", version(ete), [2]uint8{1, 3}},
		{"ETE 1.0", version(ete0), [2]uint8{1, 0}},
		{"ETE has 4.6", ete0.AtLeast(4, 6), true},
		{"4.0 has no 4.1", a53.AtLeast(4, 1), false},
		{"4.1 has 4.1", v41.AtLeast(4, 1), true},

		{"a53 ID", a53.ConfiguredID(), uint8(0x10)},
		{"a53 context ID", [2]any{a53.V4.ContextIDs(), a53.ContextIDBytes()}, [2]any{true, 4}},
		{"a53 VMID", [2]any{a53.V4.VMIDs(), a53.VMIDBytes()}, [2]any{true, 1}},
		{"v4.1 VMID", v41.VMIDBytes(), 4},
		{"ete VMID", ete.VMIDBytes(), 4},
		{"a53 return stack", a53.V4.ReturnStack(), true},
		{"a53 timestamp", a53.V4.Timestamps(), false},
		{"a53 commits", a53.V4.CommitInCounts(), false},
		{"ete0 commits", ete0.V4.CommitInCounts(), true},
		{"ete0 transactions", ete0.V4.TransactionsP0(), false},
		{"ete transactions", ete.V4.TransactionsP0(), true},
		{"ete Q", ete.V4.HasQElements(), true},
		{"a53 Q", a53.V4.HasQElements(), false},
		{"ete waits", ete.WaitsP0(), true},
		{"a53 waits", a53.WaitsP0(), false},
		{"ete markers", ete.V4.TimestampMarkers(), true},
		{"ete speculation", ete.V4.MaxSpec(), uint32(6)},
		{"a53 cond", a53.V4.Conditionals(), false},

		{"a15 return stack", a15.V3.ReturnStack(), true},
		{"a return stack asked for that is not there", asked.V3.ReturnStack(), false},
		{"a15 cycles", a15.V3.CycleAccurate(), true},
		{"a15 context", a15.V3.ContextIDBytes(), 4},
		{"a15 timestamps", []bool{a15.V3.Timestamps(), a15.WideTimestamps(), a15.NaturalTimestamps()}, []bool{true, true, true}},
		{"a15 barriers", a15.V3.BarriersAreWaypoints(), true},
		{"a7 branches", a7.V3.AlternativeBranches(), false},
		{"STM ID", (&Config{Protocol: STM, STM: STMRegisters{TCSR: 0x00A00007}}).ConfiguredID(), uint8(0x20)},
		{"ITM ID", (&Config{Protocol: ITM, ITM: ITMRegisters{TCR: 0x00130000}}).ConfiguredID(), uint8(0x13)},
		{"ITM prescale", (&ITMRegisters{TCR: 0x210}).TimestampPrescale(), uint32(16)},
		{"ITM no prescale", (&ITMRegisters{TCR: 0x200}).TimestampPrescale(), uint32(1)},
	} {
		if !equal(x.got, x.want) {
			t.Errorf("%s: got %v, want %v", x.what, x.got, x.want)
		}
	}
}

func equal(a, b any) bool {
	x, ok := a.([]bool)
	if !ok {
		return a == b
	}
	y, _ := b.([]bool)
	return slices.Equal(x, y)
}

// Configurations that cannot be decoded name the register and its value. It
// would catch a check that is missing or that hits a good one.
func TestValidate(t *testing.T) {
	v8 := Arch{Major: 8, Profile: 'A'}
	good := []Config{
		{Protocol: ETMv4, ID: 0x10, Arch: v8, V4: ETMv4Registers{IDR1: 0x4100F403}},
		{Protocol: ETE, Arch: v8, V4: ETMv4Registers{DEVARCH: 0x47705A13}},
		{Protocol: ETMv3, Arch: v8, V3: ETMv3Registers{IDR: 0x410CF250}},
		{Protocol: PTM, Arch: v8, V3: ETMv3Registers{IDR: 0x411CF312}},
		{Protocol: STM}, {Protocol: ITM, ID: 0x6F},
	}
	for _, c := range good {
		if err := c.Validate(); err != nil {
			t.Errorf("%v: %v", c.Protocol, err)
		}
	}
	for _, x := range []struct {
		c    Config
		want string
	}{
		{Config{}, "protocol 0"},
		{Config{Protocol: STM, ID: 0x70}, "trace ID 0x70"},
		{Config{Protocol: ETMv4, V4: good[0].V4}, "architecture of the traced core"},
		{Config{Protocol: ETMv4, Arch: v8, V4: ETMv4Registers{IDR1: 0x4100F503}}, "TRCIDR1 0x4100f503 says version 5.0, need 4.x"},
		{Config{Protocol: ETE, Arch: v8, V4: ETMv4Registers{DEVARCH: 0x47704A13}}, "TRCDEVARCH 0x47704a13 says architecture version 4, need 5"},
		{Config{Protocol: PTM, Arch: v8, V3: ETMv3Registers{IDR: 0x410CF250}}, "ETMIDR 0x410cf250 says version 0.5, need 1.x"},
		{Config{Protocol: ETMv3, Arch: v8, V3: ETMv3Registers{IDR: 0x411CF312}}, "says version 4.1, need 3.x"},
		{Config{Protocol: ETMv4, Arch: v8, V4: ETMv4Registers{IDR1: 0x4100F403, IDR0: 0x1E, CONFIGR: 0x10006}}, "data tracing"},
		{Config{Protocol: ETMv4, Arch: v8, V4: ETMv4Registers{IDR1: 0x4100F403, IDR0: 0x06, CONFIGR: 0x3}}, "loads or stores"},
		{Config{Protocol: ETMv4, Arch: v8, V4: ETMv4Registers{IDR1: 0x4100F403, IDR0: 0x40, CONFIGR: 0x500}}, "COND (bits 10 to 8) is 5"},
	} {
		if err := x.c.Validate(); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %q", x.c, err, x.want)
		}
	}
}

// Names of cores and the patterns that name an architecture. It would catch a name
// that stands twice or under another profile, and a pattern read too loosely.
func TestArchOf(t *testing.T) {
	n := 0
	for _, c := range cores {
		for _, name := range strings.Fields(c.names) {
			n++
			a, ok := ArchOf(name)
			if !ok || a != c.arch || a.Profile != name[7] && name[6] == '-' && name[7] != 'X' {
				t.Errorf("%s: %v, %v", name, a, ok)
			}
		}
	}
	if n < 60 {
		t.Errorf("%d cores have a name", n)
	}
	for name, want := range map[string]string{
		"Cortex-A53": "v8-A", "Cortex-M55": "v8.1-M", "Cortex-A9": "v7-A", "Cortex-R82": "v8.4-R",
		"ARM-AA64": "aa64-A", "ARM-aa64": "aa64-A", "ARM-AA64-R": "aa64-R", "ARM-AA64-M": "aa64-M",
		"ARMv8-A": "v8-A", "ARMv8.1-M": "v8.1-M", "ARMv7-R": "v7-R", "ARMv9.4-A": "v9.4-A", "ARMv6-M": "v6-M",
	} {
		if a, ok := ArchOf(name); !ok || a.String() != want {
			t.Errorf("%s: %v, %v, want %s", name, a, ok, want)
		}
	}
	for _, name := range []string{"", "cortex-a53", "Cortex-A", "ARM-AA64-X", "ARM-AA32", "ARMv8", "ARMv8-", "ARMv8-AX", "ARMv8.-A", "ARMv8.10-A", "ARMv5-A", "ARMv-A", "ARMv8.1"} {
		if a, ok := ArchOf(name); ok || a.Known() || a.String() != "?" {
			t.Errorf("%q: %v, %v, want none", name, a, ok)
		}
	}
	aa64, _ := ArchOf("ARM-AA64")
	v82, _ := ArchOf("Cortex-A55")
	if !aa64.AtLeast(9, 5) || !v82.AtLeast(8, 2) || v82.AtLeast(8, 3) || v82.AtLeast(9, 0) {
		t.Error("AtLeast is wrong")
	}
}
