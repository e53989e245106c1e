package export

import (
	"strconv"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// perfStackSize is how many branches a stack has at most: as many as the CPU's own record of
// last branches (Intel SDM, volume 3, "Last Branch Records").
const perfStackSize = 32

// perfStack is the branches of a stream that no line has yet, one after the other.
type perfStack struct {
	n       int
	entries [perfStackSize][]byte // the oldest first
	last    rows.Row
}

// stack takes a branch, and writes the stack when it is full.
func (p *perfScript) stack(r *rows.Row) error {
	s := &p.stacks[r.Stream.Index]
	b := append(s.entries[s.n][:0], " 0x"...)
	b = strconv.AppendUint(b, r.IP, 16)
	b = p.stackFile(b, r, r.IP)
	b = strconv.AppendUint(append(b, "/0x"...), perfTarget(r), 16)
	b = p.stackFile(b, r, perfTarget(r))
	s.entries[s.n] = append(b, "/-/-/-/0/ "...) // mispredicted, in a transaction, aborted, cycles: not known
	s.n++
	s.last = *r
	if s.n < perfStackSize {
		return nil
	}
	return p.flush(r)
}

// stackFile appends what holds an address, if the file is asked for.
func (p *perfScript) stackFile(b []byte, r *rows.Row, addr uint64) []byte {
	if p.fields&perfDSO == 0 {
		return b
	}
	at := p.Names().At(r, addr)
	return append(terminal.AppendPlain(append(b, '('), p.file(r, addr, &at)), ')')
}

// flush writes the stack of the stream of r, the newest branch first, if there is any. What
// follows is not part of it.
func (p *perfScript) flush(r *rows.Row) error {
	if p.stacks == nil || r.Stream == nil {
		return nil
	}
	s := &p.stacks[r.Stream.Index]
	if s.n == 0 {
		return nil
	}
	var b []byte
	for i := s.n - 1; i >= 0; i-- {
		b = append(b, s.entries[i]...)
	}
	at := s.last
	if at.HasAddr {
		at.IP = at.Addr
	}
	err := p.print(&at, b)
	s.n = 0
	return err
}

// perfIndents is what the field callindent is made of: the calls that threads are in, as perf
// sees them. They are not those of ptdecode calls: perf takes each call alike, retpolines too.
type perfIndents struct {
	threads map[int64]*perfThread
	width   int // of the field, up to now
}

// perfThread is the calls that a thread is in.
type perfThread struct{ calls []perfCall }

// perfCall is where a call returns to.
type perfCall struct {
	ret  uint64
	last bool // tracing ended with it
}

// indent appends the field callindent: a name behind four blanks for each call outside.
func (p *perfScript) indent(b []byte, r *rows.Row, tid int32) []byte {
	k := int64(tid)
	if tid <= 0 {
		k = -1 - int64(r.Stream.Index)
	}
	t := p.indents.threads[k]
	if t == nil {
		t = &perfThread{}
		p.indents.threads[k] = t
	}
	calls, returns := t.moved(r)
	depth, of, from := len(t.calls), uint64(0), len(b)
	switch {
	case calls || r.Transfer == rows.TransferTraceStart:
		of = perfTarget(r)
	case returns || r.Transfer&rows.TransferTraceEnd != 0:
		of = r.IP
	}
	if returns {
		depth++
	}
	if at := p.Names().At(r, of); of != 0 && at.Sym != "" {
		b = terminal.AppendPlain(perfPad(b, 4*depth), at.Sym)
	} else if of != 0 {
		b = strconv.AppendUint(perfPad(b, 4*depth), of, 16)
	}
	// The width changes seldom, so that columns stay.
	size := len(b) - from
	if size > p.indents.width || size > 0 && size < p.indents.width-52 {
		p.indents.width = (size + 4 + 31) &^ 31
	}
	return perfPad(b, p.indents.width-size)
}

// moved takes a branch of the thread: whether it calls, or returns.
func (t *perfThread) moved(r *rows.Row) (calls, returns bool) {
	end := r.Transfer&rows.TransferTraceEnd != 0
	if end && r.Class == isa.Other {
		return false, false // an interrupt whose handler is not traced: no instruction of the thread
	}
	switch r.Transfer &^ rows.TransferTraceEnd {
	case rows.TransferCall, rows.TransferSyscall, rows.TransferInt, rows.TransferInterrupt, rows.TransferTrap:
		if ret := r.IP + uint64(r.Len); ret != perfTarget(r) {
			t.calls = append(t.calls, perfCall{ret, end})
		}
		return true, false
	case rows.TransferReturn, rows.TransferSysret, rows.TransferIret:
		for i := len(t.calls) - 1; i >= 0 && r.HasAddr; i-- {
			if t.calls[i].ret == r.Addr {
				t.calls = t.calls[:i]
				break
			}
		}
		return false, true
	case rows.TransferTraceStart:
		for n := len(t.calls); n > 0 && t.calls[n-1].last; n-- {
			t.calls = t.calls[:n-1]
		}
	}
	return false, false
}
