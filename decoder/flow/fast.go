package flow

// fast follows the flow while every block on its way is the same text for
// every moment that the clock allows, and the events are outcomes and targets.
// It returns when anything else is met; step takes it from there.
func (w *Walker) fast() {}
