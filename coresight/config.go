package coresight

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Protocol is the language that a trace source speaks.
type Protocol uint8

// The protocols.
const (
	NoProtocol Protocol = iota
	ETMv4
	ETE
	ETMv3
	PTM
	STM
	ITM
	numProtocols
)

var protocolNames = [numProtocols]string{"none", "etmv4", "ete", "etmv3", "ptm", "stm", "itm"}

// String returns the protocol's name as output prints it.
func (p Protocol) String() string {
	if p < numProtocols {
		return protocolNames[p]
	}
	return "?"
}

// Instructions reports whether the protocol traces instructions; STM and ITM
// carry only what software wrote.
func (p Protocol) Instructions() bool { return p >= ETMv4 && p <= PTM }

// Config is what a trace source's packets leave out: its protocol, the trace ID under which
// frames carry it, and the architecture of the core that it watches. The registers of the
// source say what it was set up to do. Only those of its Protocol count. A Config is a plain
// value and may be compared.
type Config struct {
	Protocol Protocol

	// ID is the trace ID in frames, 0x01..0x6F. 0: the bytes are not in frames,
	// or none is configured.
	ID uint8

	// Arch is the traced core's architecture; STM and ITM have none.
	Arch Arch

	V4  ETMv4Registers // ETMv4, ETE
	V3  ETMv3Registers // ETMv3, PTM
	STM STMRegisters
	ITM ITMRegisters
}

// The range of trace IDs that a source may have. 0 is padding, 0x70 and above
// are reserved (IHI0029, section "Special trace source IDs").
const (
	MinID uint8 = 0x01
	MaxID uint8 = 0x6F
)

// ConfiguredID returns the trace ID that the registers hold, whatever ID says.
func (c *Config) ConfiguredID() uint8 {
	switch c.Protocol {
	case ETMv4, ETE:
		return uint8(c.V4.TRACEIDR & 0x7F)
	case ETMv3, PTM:
		return uint8(c.V3.TRACEIDR & 0x7F)
	case STM:
		return uint8(c.STM.TCSR >> 16 & 0x7F)
	case ITM:
		return uint8(c.ITM.TCR >> 16 & 0x7F)
	}
	return 0
}

// Version returns the protocol's version: 4.3 of an ETMv4, 1.2 of an ETE, 3.5 of an
// ETMv3, 1.1 of a PTM. It is 0.0 of STM and ITM, whose registers do not say. An ETE
// keeps it in TRCDEVARCH, all others in their ID register.
func (c *Config) Version() (major, minor uint8) {
	switch c.Protocol {
	case ETE:
		return c.V4.archVersion() - 4, uint8(c.V4.DEVARCH >> 16 & 0xF)
	case ETMv4:
		return uint8(c.V4.IDR1 >> 8 & 0xF), uint8(c.V4.IDR1 >> 4 & 0xF)
	case ETMv3, PTM:
		// The major field counts ETMv1, ETMv2, ETMv3 from 0; 3 is PFT 1.
		major = uint8(c.V3.IDR>>8&0xF) + 1
		if c.Protocol == PTM {
			major -= 3
		}
		return major, uint8(c.V3.IDR >> 4 & 0xF)
	}
	return 0, 0
}

// AtLeast reports whether an ETMv4 or ETE has the features of ETMv4
// major.minor. Every ETE has those of ETMv4.6.
func (c *Config) AtLeast(major, minor uint8) bool {
	if c.Protocol == ETE {
		return major <= 4
	}
	ma, mi := c.Version()
	return ma > major || ma == major && mi >= minor
}

// Validate returns an error if what the configuration describes cannot be decoded: no
// protocol, an ID or an architecture that cannot be, the wrong version, or data that is
// traced. The error says which register is wrong, what it holds and what it should.
func (c *Config) Validate() error {
	if c.Protocol == NoProtocol || c.Protocol >= numProtocols {
		return fmt.Errorf("protocol %d: none of etmv4, ete, etmv3, ptm, stm, itm", c.Protocol)
	}
	if c.ID > MaxID {
		return fmt.Errorf("%v: trace ID 0x%02x: a source has 0x%02x to 0x%02x", c.Protocol, c.ID, MinID, MaxID)
	}
	if c.Protocol.Instructions() && !c.Arch.Known() {
		return fmt.Errorf("%v: the architecture of the traced core is not known", c.Protocol)
	}
	switch c.Protocol {
	case ETMv4:
		if major, minor := c.Version(); major != 4 {
			return fmt.Errorf("etmv4: TRCIDR1 0x%08x says version %d.%d, need 4.x", c.V4.IDR1, major, minor)
		}
		return c.V4.validate("etmv4")
	case ETE:
		if v := c.V4.archVersion(); v != 5 {
			return fmt.Errorf("ete: TRCDEVARCH 0x%08x says architecture version %d, need 5", c.V4.DEVARCH, v)
		}
		return c.V4.validate("ete")
	case ETMv3, PTM:
		want := map[Protocol]uint8{ETMv3: 3, PTM: 1}[c.Protocol]
		if major, minor := c.Version(); major != want {
			return fmt.Errorf("%v: ETMIDR 0x%08x says version %d.%d, need %d.x", c.Protocol, c.V3.IDR, major, minor, want)
		}
	}
	return nil
}

// DecoderConfig is what the packets of a stream leave out that its decoder needs: the
// Config of the trace units of cores.
type DecoderConfig struct {
	// Trace holds the registers of the trace unit.
	Trace Config

	// TimeConv turns timestamps into nanoseconds of the recording's clock.
	TimeConv event.TimeConv

	// Ahead makes the decoder look ahead for the timestamp that follows an
	// event, so that Event.Time has an upper bound as near as the trace tells.
	// Without it the bound is the segment's.
	Ahead bool
}
