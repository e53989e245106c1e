package sim

// outages are the stretches of which a trace unit of Arm's tells nothing.
type outages struct {
	gone  away   // why nothing is told
	back  uint64 // ticks at which that ends
	ovfAt uint64 // ticks at which the next overflow starts; never if none
	offAt uint64 // ticks at which tracing is next switched off; never if not
}

// away says why nothing is told.
type away uint8

const (
	here      away = iota
	switchOff      // tracing is switched off
	losing         // an overflow
)

// draw draws when the next outages after t come, mean ticks apart; 0: none comes.
func (o *outages) draw(r *rnd, mean, t uint64) {
	if mean > 0 {
		o.ovfAt = t + r.around(mean)
		o.offAt = t + r.around(mean)
	}
}

// change returns what t brings: an outage and its reason, the end of one as here,
// or nothing, where due is false.
func (o *outages) change(t uint64) (why away, due bool) {
	switch {
	case o.gone != here:
		return here, t >= o.back
	case t >= o.ovfAt:
		return losing, true
	}
	return switchOff, t >= o.offAt
}

// leaver is a trace unit that has outages.
type leaver interface {
	// leave begins to tell nothing.
	leave(why away)
	// comeBack ends a stretch of which nothing was told; ip is next to run.
	comeBack(ip uint64)
}

// turn has u leave or come back where t brings it, and reports whether it did.
func (o *outages) turn(u leaver, t, ip uint64) bool {
	why, due := o.change(t)
	switch {
	case due && why == here:
		u.comeBack(ip)
	case due:
		u.leave(why)
	}
	return due
}
