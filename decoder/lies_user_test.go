package decoder

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/pt"
)

// usersLie traces the programs too, of which there is no code: where tracing ended on
// the way out of the kernel, the packets of a made-up program stand. What the kernel
// executed stays, and so do all other packets. With late, targets wait for outcomes to
// gather, also on the way into the kernel.
func usersLie(t testing.TB, o *original, r *rand.Rand, late bool) *lie {
	syscall, ok := o.symbols.Find("entry_SYSCALL_64")
	if !ok {
		t.Fatal("no symbol entry_SYSCALL_64")
	}
	moved := *o
	moved.ran, moved.stated = nil, nil
	var streams [][]byte
	for i := range o.ran {
		w := userWriter{r: r, syscall: syscall.Addr, late: late}
		w.write(o.trace[i])
		streams = append(streams, w.out)
		x := *o.ran[i]
		x.at = nil
		for _, a := range o.ran[i].at {
			to, ok := w.moved[a.off]
			if !ok {
				t.Fatalf("%s: stream %d: no packet at %#x", o.name, i, a.off)
			}
			x.at = append(x.at, place{a.from, to})
		}
		moved.ran = append(moved.ran, &x)
	}
	moved.stated = make([]stated, len(o.ran))
	return &lie{
		what:     "programs are traced too, and their code is not at hand",
		original: &moved,
		change: func(rec *recording.Recording) {
			for i, st := range rec.Streams {
				b := streams[i]
				rec.Streams[i] = &stream.Stream{Protocol: st.Protocol, CPU: st.CPU, TID: st.TID, Size: int64(len(b)), Data: stream.Memory(b)}
			}
		},
	}
}

// userWriter writes a stream of packets anew, with those of a program where tracing
// was off. Every address is written whole.
type userWriter struct {
	r       *rand.Rand
	syscall uint64 // where a system call enters the kernel

	out   []byte
	moved map[int64]int64 // by offset of a packet: where what stands for it begins
	last  uint64          // the last address of the packets read (SDM, "IP Compression")
	user  uint64          // where the program is; 0: the kernel runs
	psb   bool            // inside PSB+

	// What waits, if late: the outcomes of one packet, the youngest in bit 0, and the
	// targets behind them. Of the kernel's packets among these, the last target's place
	// is what counts: what ran between is printed there.
	late    bool
	bits    uint64
	n       uint8
	targets []uint64
	kernel  []int64 // offsets of the kernel's
}

func (w *userWriter) write(in []byte) {
	w.moved = map[int64]int64{}
	leaves := leavesKernel(in)
	for p := range pt.NewLexer(in, 0).All() {
		if p.Kind == pt.TNTShort && w.n > 0 {
			w.kernel = append(w.kernel, p.Off)
			w.gather(&p)
			if p.N == 0 {
				continue
			}
		}
		if p.Kind != pt.PGE {
			w.flush()
		}
		if _, ok := w.moved[p.Off]; !ok {
			w.moved[p.Off] = int64(len(w.out))
		}
		switch p.Kind {
		case pt.PSB:
			w.last, w.psb = 0, true
		case pt.PSBEND:
			if w.user != 0 { // tracing is on now
				w.out = pt.Packet{Kind: pt.ModeExec, Value: 1}.Append(w.out)
				w.address(pt.FUP, w.user)
			}
			w.psb = false
		case pt.TIP, pt.FUP, pt.PGE, pt.PGD:
			w.branch(p, leaves[p.Off])
			continue
		}
		w.out = p.Append(w.out)
	}
}

// leavesKernel returns the offsets of the packets that end tracing until another
// begins it.
func leavesKernel(in []byte) map[int64]bool {
	at, off := map[int64]bool{}, int64(-1)
	for p := range pt.NewLexer(in, 0).All() {
		switch p.Kind {
		case pt.PGD:
			off = p.Off
		case pt.PGE:
			if off >= 0 {
				at[off] = true
			}
			off = -1
		case pt.OVF:
			off = -1
		}
	}
	return at
}

// branch writes a packet that may state an address.
func (w *userWriter) branch(p pt.Packet, leaves bool) {
	ip, ok := w.full(p)
	switch {
	case p.Kind == pt.PGD && leaves:
		w.user = 1<<32 + w.r.Uint64N(1<<20)
		w.address(pt.TIP, w.user)
		w.program()
	case p.Kind == pt.PGE && w.user != 0:
		if ip != w.syscall {
			w.flush()
			w.address(pt.FUP, w.user)
		}
		if w.n > 0 {
			w.kernel = append(w.kernel, p.Off)
		}
		w.target(ip)
		w.user = 0
	case ok:
		w.address(p.Kind, ip)
	default:
		w.out = p.Append(w.out)
	}
}

// program writes what a program does: branches, calls, and the like.
func (w *userWriter) program() {
	for range w.r.IntN(4) {
		if w.r.IntN(2) == 0 {
			n := 1 + w.r.IntN(6)
			p := pt.Packet{Kind: pt.TNTShort, N: uint8(n), Value: w.r.Uint64N(1 << n)}
			if !w.late {
				w.out = p.Append(w.out)
				continue
			}
			for w.gather(&p); p.N > 0; w.gather(&p) {
			}
			continue
		}
		w.user = 1<<32 + w.r.Uint64N(1<<20)
		w.target(w.user)
	}
}

// gather takes outcomes of p, a TNT, to those that wait, until they fill a packet: then
// that is written, and what waits behind it. What is left of p stays in it.
func (w *userWriter) gather(p *pt.Packet) {
	k := min(p.N, 6-w.n)
	p.N -= k
	w.bits, w.n = w.bits<<k|p.Value>>p.N, w.n+k
	if p.Value &= 1<<p.N - 1; w.n == 6 {
		w.flush()
	}
}

// flush writes what waits.
func (w *userWriter) flush() {
	if w.n > 0 {
		w.out = pt.Packet{Kind: pt.TNTShort, N: w.n, Value: w.bits}.Append(w.out)
	}
	for i, ip := range w.targets {
		if i == len(w.targets)-1 {
			for _, off := range w.kernel {
				w.moved[off] = int64(len(w.out))
			}
		}
		w.address(pt.TIP, ip)
	}
	w.bits, w.n, w.targets, w.kernel = 0, 0, w.targets[:0], w.kernel[:0]
}

// target writes that a branch went to ip: behind the outcomes that wait, if any do.
func (w *userWriter) target(ip uint64) {
	if w.n > 0 {
		w.targets = append(w.targets, ip)
		return
	}
	w.address(pt.TIP, ip)
}

// address writes a packet of kind k that states ip whole.
func (w *userWriter) address(k pt.Kind, ip uint64) {
	w.out = pt.Packet{Kind: k, Arg: 6, Value: ip}.Append(w.out)
}

// full returns the address that p states, if it does (SDM, "IP Compression").
func (w *userWriter) full(p pt.Packet) (ip uint64, ok bool) {
	switch p.Arg {
	case 0:
		return 0, false
	case 1:
		ip = w.last&^0xffff | p.Value&0xffff
	case 2:
		ip = w.last&^0xffffffff | p.Value&0xffffffff
	case 3:
		ip = uint64(int64(p.Value<<16) >> 16)
	case 4:
		ip = w.last&^0xffffffffffff | p.Value&0xffffffffffff
	default:
		ip = p.Value
	}
	w.last = ip
	return ip, true
}
