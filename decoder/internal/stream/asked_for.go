package stream

import "github.com/ptdecode/ptdecode/pt"

// AskedFor returns c, by which an MTC or CYC that was not asked for tells no time: it is other bytes of a damaged
// trace, read as a packet. Where none of the bits is known, all tell what they can.
func AskedFor(c pt.Config) pt.Config {
	if !c.TSC && !c.MTC && !c.CYC {
		return c
	}
	if !c.MTC {
		c.CTCNum, c.CTCDen = 0, 0
	}
	if !c.CYC {
		c.MaxNonTurboRatio = 0
	}
	return c
}
