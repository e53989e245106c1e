package sim

// unitArm is what traces one A64 CPU. It is told of each branch and ISB when it
// has retired, and of each exception before its entry runs.
type unitArm interface {
	// start begins at time t, ticks, with the instruction at ip next to run.
	start(ip, t uint64)
	// tick does what time brings, between two instructions; ip is next to run.
	tick(t, ip uint64)
	// plain tells of an instruction that is none of these, and whether it passed
	// its condition.
	plain(passed bool)
	// call says where the call that is told of next returns to.
	call(next uint64)
	// outcome tells of a direct branch or ISB, and where it led.
	outcome(taken bool, next uint64)
	// indirect tells of an indirect branch or a return.
	indirect(to uint64)
	// exceptionReturn tells of an ERET.
	exceptionReturn(to uint64)
	// exception says that control left before the instruction at from.
	exception(from, to uint64, y reason)
	// stop ends the trace and returns how many instructions it tells of.
	stop(t uint64) int
	// result returns the trace: all of a CPU but what it did.
	result() CPU
}

// sentLog notes when packets were sent.
type sentLog struct {
	insns *[]Retired
	sent  []Sent
}

// sentLate is how many packets may be sent between an instruction that retired and the one that
// tells of it.
const sentLate = 8

// note notes that a packet is sent at offset off, bytes.
func (l *sentLog) note(off int) {
	from := 0
	if n := len(l.sent); n > sentLate {
		from = l.sent[n-sentLate].To
	}
	l.sent = append(l.sent, Sent{int64(off), from, len(*l.insns)})
}

func newUnitArm(c *Config, id int, insns *[]Retired) unitArm {
	switch {
	case c.Timing >= PTMCoarse:
		return newUnitA32(c, id, insns)
	case c.Timing >= ETMv4Coarse:
		return newUnitV4(c, id, insns)
	}
	return newScript(c, id, insns)
}
