package etmv4

import "github.com/ptdecode/ptdecode/coresight"

// need is what a trace unit must have to send some packets: a set of bits.
type need uint16

const (
	needETE need = 1 << iota
	needETMv4
	needM
	needITE
	needIgnore
	needMarker
	needQ
	needCond
	needData
	needCommits
	needPlain
)

// dialect is what a configuration says of the packets: which there are, and the
// size of the IDs in a context.
type dialect struct {
	has  need
	vmid uint8 // bytes of a VMID: 0, 1, 2 or 4
	cid  uint8 // bytes of a context ID: 0 or 4
}

// newDialect returns what c says of the packets. Conditions as in OpenCSD 1.8.0,
// decoder/source/etmv4/trc_pkt_proc_etmv4i.cpp.
func newDialect(c *coresight.Config) dialect {
	f := dialect{vmid: uint8(c.VMIDBytes()), cid: uint8(c.ContextIDBytes())}
	set := func(n need, on bool) {
		if on {
			f.has |= n
		}
	}
	ete := c.Protocol == coresight.ETE
	_, minor := c.Version()
	set(needETE, ete)
	set(needETMv4, !ete)
	set(needM, c.Arch.Profile == 'M' && c.Arch.Major >= 8 && c.AtLeast(4, 2))
	set(needITE, ete && minor >= 3)
	set(needIgnore, c.AtLeast(4, 3))
	set(needMarker, c.AtLeast(4, 6))
	set(needQ, c.V4.HasQElements())
	set(needCond, c.V4.Conditionals())
	set(needData, c.V4.DataTrace())
	set(needCommits, c.V4.CommitInCounts())
	set(needPlain, !c.V4.CommitInCounts())
	return f
}
