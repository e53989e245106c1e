package sim

// Timing is how densely a trace unit states the time.
type Timing uint8

// The timing densities.
const (
	TSCOnly Timing = iota // TSC in PSB+ only
	MTC                   // TSC and TMA in PSB+, an MTC each period
	CYC                   // as MTC, and CYC before every packet that can have one
	NumTimings
)

// String returns the density's name.
func (t Timing) String() string {
	switch t {
	case TSCOnly:
		return "tsc"
	case MTC:
		return "mtc"
	case CYC:
		return "cyc"
	case A64Coarse:
		return "a64-coarse"
	case A64Fine:
		return "a64-fine"
	case ETMv4Coarse:
		return "etmv4-coarse"
	case ETMv4Fine:
		return "etmv4-fine"
	case ETECoarse:
		return "ete-coarse"
	case ETEFine:
		return "ete-fine"
	case PTMCoarse:
		return "ptm-coarse"
	case PTMFine:
		return "ptm-fine"
	case ETMv3Coarse:
		return "etmv3-coarse"
	case ETMv3Fine:
		return "etmv3-fine"
	}
	return "?"
}

// Scheme is a way of rewriting live text.
type Scheme uint8

// The schemes. What another CPU may execute under each stands in Scheme.Name's
// vocabulary: "bp", "kprobe", "slot", "xmc", "stop_machine", "atomic", "unsafe".
const (
	SchemeBP     Scheme = iota // INT3, sync, tail, record, sync, first byte, sync
	SchemeKprobe               // one byte to INT3 and back; records after arming, before disarming
	SchemeSlot                 // code that appears or goes
	SchemeXMC                  // INT3, sync, tail, record, first byte; trapped CPUs run the old instruction from a copy
	SchemeStop                 // every CPU held while the bytes change
	SchemeAtomic               // one aligned store, synchronised afterwards
	SchemeUnsafe               // the same where the architecture promises nothing
	NumSchemes
)

// String returns the scheme's name.
func (s Scheme) String() string {
	switch s {
	case SchemeBP:
		return "bp"
	case SchemeKprobe:
		return "kprobe"
	case SchemeSlot:
		return "slot"
	case SchemeXMC:
		return "xmc"
	case SchemeStop:
		return "stop_machine"
	case SchemeAtomic:
		return "atomic"
	case SchemeUnsafe:
		return "unsafe"
	}
	return "?"
}

// Work is a set of things the patcher does, one bit each.
type Work uint16

// The kinds of work.
const (
	WorkJump     Work = 1 << iota // jump labels: NOP2/NOP5 <-> JMP8/JMP32
	WorkCall                      // static calls: CALL, NOP5, XOR; tail JMP, RET, Jcc
	WorkFtrace                    // function entries: NOP5 <-> CALL of fixed text or of a trampoline that comes and goes
	WorkKprobe                    // kprobes: single-stepped, boosted and emulated
	WorkOptprobe                  // kprobes made into jumps and back
	WorkXMC                       // immediate values by cross-modification
	WorkStop                      // ftrace sites by stop_machine
	WorkAtomic                    // aligned immediates by one store
	WorkLoad                      // programs that come and go with a symbol record, but no bytes; not in WorkAll

	WorkAll = WorkLoad - 1
)

// Config says what machine to build and what happens to it. The zero value of
// each field is its default.
type Config struct {
	Seed  uint64
	CPUs  int // 0: 2
	Insns int // retired instructions that each CPU reaches at least; 0: 2000
	Funcs int // functions of the program; 0: 24

	Work    Work   // what the patcher does; 0: nothing
	PokeGap uint64 // mean ticks between two jobs of the patcher; 0: 1500
	Batch   int    // sites in a batch at most; 0: 4
	Window  uint64 // mean ticks between two steps of a job; 0: 200
	Stale   uint64 // ticks that old bytes may stay in an instruction cache; 0: 2000

	Timing    Timing
	MTCFreq   uint8  // an MTC each 2^MTCFreq crystal ticks
	NoRetComp bool   // every near return has a TIP
	NoDefer   bool   // no TIP is held back behind a TNT
	LongTNT   bool   // TNTs of up to 47 results now and then
	PSBBytes  int    // mean bytes between two PSBs; 0: 600
	OVF       uint64 // mean ticks between two overflows; 0: none
	User      bool   // CPUs go to user space, which is not traced
	Threads   int    // x86: threads that wait for each CPU; 0: a CPU stays in the one that it starts in; Draw sets none
	OffAtPSB  bool   // the stream opens with tracing off
	IRQ       uint64 // mean ticks between two interrupts; 0: 600

	// What a recording may lack. Draw sets none of these.
	Unrecorded uint64 // of 100 changes, how many the kernel makes without a record
	LoseRecord uint64 // of 100 records, how many do not fit the buffer
	ClockError uint64 // ticks by which a record's timestamp may be off, either way

	NMI uint64 // mean ticks between two NMIs; 0: 2500

	hypervisor bool // the CPUs go to virtual machines: set by SimulateGuest

	// A64 only.
	RetStack int    // depth of the trace units' return stacks, entries; 0: none
	Stamps   uint64 // mean ticks between two timestamps; 0: 100
	Tx       bool   // the program has transactions; ETE only
}

// withDefaults returns c with its zero fields replaced.
func (c Config) withDefaults() Config {
	def := func(p *uint64, v uint64) {
		if *p == 0 {
			*p = v
		}
	}
	defInt := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	defInt(&c.CPUs, 2)
	defInt(&c.Insns, 2000)
	defInt(&c.Funcs, 24)
	defInt(&c.Batch, 4)
	defInt(&c.PSBBytes, 600)
	def(&c.PokeGap, 1500)
	def(&c.Window, 200)
	def(&c.Stale, 2000)
	def(&c.IRQ, 600)
	def(&c.NMI, 2500)
	def(&c.Stamps, 100)
	return c
}

// Clock ratios of the machine. One TSC tick is one nanosecond; the crystal
// ticks once each tscPerCrystal of them (CPUID leaf 15H: EBX/EAX).
const (
	RatioEBX      = 80 // CPUID.15H:EBX
	RatioEAX      = 2  // CPUID.15H:EAX
	tscPerCrystal = RatioEBX / RatioEAX
	NomFreq       = 10 // ratio of TSC to bus clock (MSR_PLATFORM_INFO[15:8])
)

// Draw returns a Config whose every choice is drawn from seed: small enough
// (2,000 instructions a CPU) that thousands run in seconds.
func Draw(seed uint64) Config {
	r := newRand(seed, 0xc0)
	c := drawSize(seed, &r)
	c.Work = Work(r.n(uint64(WorkAll)) + 1)
	c.PokeGap = 200 + r.n(2000)
	c.drawPace(&r)
	c.Stale = 1 + r.n(3000)
	c.Timing = Timing(r.n(uint64(NumTimings)))
	c.MTCFreq = uint8(r.n(7))
	c.NoRetComp, c.NoDefer, c.LongTNT = r.one(3), r.one(2), r.one(2)
	c.PSBBytes = 200 + int(r.n(3000))
	c.User, c.OffAtPSB = r.one(3), r.one(2)
	c.IRQ, c.NMI = 100+r.n(1500), 500+r.n(5000)
	c.drawOverflows(&r)
	return c
}

// DrawThreads returns what Draw does, but for threads that CPUs go over to.
func DrawThreads(seed uint64) Config {
	c := Draw(seed)
	c.Threads = 1 + int(seed%3)
	return c
}

// drawSize returns a Config of seed's with a machine and a program drawn by r.
func drawSize(seed uint64, r *rnd) Config {
	return Config{Seed: seed, CPUs: 1 + int(r.n(3)), Insns: 2000, Funcs: 10 + int(r.n(20))}
}

// drawPace draws how many pokes there are at once, and how long each takes.
func (c *Config) drawPace(r *rnd) { c.Batch, c.Window = 1+int(r.n(6)), 20+r.n(400) }

// drawOverflows has the trace units lose packets in one run of three.
func (c *Config) drawOverflows(r *rnd) {
	if r.one(3) {
		c.OVF = 2000 + r.n(8000)
	}
}

// Sparse returns what Draw does, but for a patcher that rests between jobs as a
// kernel's does. The run is long enough to see some jobs (10,000 to 50,000
// instructions a CPU). Most code is not in question most of the time.
func Sparse(seed uint64) Config { return Draw(seed).sparse() }

// sparse thins out the pokes.
func (c Config) sparse() Config {
	r := newRand(c.Seed, 0xc1)
	c.Insns = 10000 + int(r.n(40000))
	c.PokeGap = 10000 + r.n(50000)
	c.PSBBytes = 400 + int(r.n(6000))
	return c
}

// rnd is a small fast generator (splitmix64), so that a Run depends on
// nothing but its Config.
type rnd struct{ s uint64 }

func newRand(seed, stream uint64) rnd {
	r := rnd{seed*0x9e3779b97f4a7c15 ^ stream*0xbf58476d1ce4e5b9}
	r.next()
	return r
}

func (r *rnd) next() uint64 {
	r.s += 0x9e3779b97f4a7c15
	z := r.s
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n returns a number below n; n must not be 0.
func (r *rnd) n(n uint64) uint64 { return r.next() % n }

// one reports true once in n.
func (r *rnd) one(n uint64) bool { return r.next()%n == 0 }

// around returns a number in [1, 2*mean].
func (r *rnd) around(mean uint64) uint64 { return 1 + r.n(2*mean) }

// shuffle puts n things in random order.
func (r *rnd) shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(r.n(uint64(i+1))))
	}
}
