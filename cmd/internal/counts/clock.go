package counts

// clock shares out the time of one stream. What passes between two times that the trace
// tells is shared among the instructions between them.
type clock struct {
	runs  bool
	since uint64 // ns
	insns uint64 // executed since
	list  []share
}

// share is what a node executed.
type share struct {
	node *node
	n    uint16 // instructions
}

// ran takes n instructions of x.
func (k *clock) ran(x *node, n uint16) {
	k.list = append(k.list, share{x, n})
	k.insns += uint64(n)
}

// reach says that it is t, ns.
func (k *clock) reach(t uint64) {
	if t == 0 || k.runs && t <= k.since {
		return
	}
	if k.runs && k.insns > 0 {
		each := float64(t-k.since) / float64(k.insns)
		for _, s := range k.list {
			s.node.rarely().time += each * float64(s.n)
		}
	}
	k.runs, k.since, k.insns, k.list = true, t, 0, k.list[:0]
}

// stop says that nothing is known to be executed from t on, ns.
func (k *clock) stop(t uint64) {
	k.reach(t)
	k.runs, k.insns, k.list = false, 0, k.list[:0]
}

// start says that execution goes on at t, ns.
func (k *clock) start(t uint64) {
	k.stop(t)
	if t != 0 {
		k.runs, k.since = true, t
	}
}
