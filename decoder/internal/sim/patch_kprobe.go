package sim

const slotSize = 32

type probe struct{}
type slotStop struct{}
type trampoline struct{}

func (p *patcher) resolveProbe(c *cpu) (frame, pendingTrap, bool) {
	return frame{}, pendingTrap{}, false
}
