package recording

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
)

// TestUnitOfBlock would catch a trace unit read as another because of what its block
// is called: simpleperf writes an ETMv4 as an ETE, and before as the other way round.
func TestUnitOfBlock(t *testing.T) {
	for _, x := range []struct {
		kind            perfdata.CSKind
		idr1, devarch   uint32
		want            coresight.Protocol
		major, minor    uint8
		core64, invalid bool
	}{
		{perfdata.CSETMv4, 0x4100f422, 0, coresight.ETMv4, 4, 2, false, false},
		{perfdata.CSETE, 0x4100f422, 0x47724a13, coresight.ETMv4, 4, 2, false, false},
		{perfdata.CSETE, 0x4100f424, 0x47724a13, coresight.ETMv4, 4, 2, false, false},
		{perfdata.CSETE, 0x4100f442, 0x47744a13, coresight.ETMv4, 4, 4, true, false},
		{perfdata.CSETE, 0x4100f422, 0, coresight.ETMv4, 4, 2, false, false},
		{perfdata.CSETE, 0x4100fff1, 0x47715a13, coresight.ETE, 1, 1, true, false},
		{perfdata.CSETE, 0x4100fff1, 0x47725a13, coresight.ETE, 1, 2, true, false},
		{perfdata.CSETMv4, 0x4100fff1, 0, coresight.ETE, 1, 3, true, false},
		{perfdata.CSETE, 0x4100fff1, 0x47706a13, coresight.ETE, 2, 0, true, true},
		{perfdata.CSETMv4, 0x4100f302, 0, coresight.ETMv4, 3, 0, false, true},
	} {
		c := csConfig(&perfdata.CSCPU{Kind: x.kind, IDR1: x.idr1, DEVARCH: x.devarch})
		major, minor := c.Version()
		if err := c.Validate(); c.Protocol != x.want || major != x.major || minor != x.minor || c.Arch.AA64 != x.core64 || (err != nil) != x.invalid {
			t.Errorf("%v, TRCIDR1 %#x, TRCDEVARCH %#x: %v %d.%d, 64-bit only %t: %v", x.kind, x.idr1, x.devarch, c.Protocol, major, minor, c.Arch.AA64, err)
		}
	}
}
