package flow

// A detour is a call with all that ran up to its return, where who takes the flow asks only what it
// comes to. The range that calls stays in its place, and the ranges up to the return are taken out.
// What they come to travels with the batch. Only the sink that asked for it knows what that is.

// IsDetour reports whether what r calls was taken out, up to its return.
func IsDetour(r *Range) bool { return r.flags&detour != 0 }

// MarkDetour says that what r calls was taken out.
func MarkDetour(r *Range) { r.flags |= detour }

// condensed is what the detours of a batch come to.
type condensed struct {
	with any
	size int64 // bytes
	here bool  // with is of this batch
}

// CondensedOf returns what the detours of b come to; nil where there are none. spare is what another
// batch with b's memory had, and may be written to.
func CondensedOf(b *Batch) (with, spare any) {
	if b.condensed.here {
		return b.condensed.with, nil
	}
	return nil, b.condensed.with
}

// Condense has b travel with what its detours come to, which takes so many bytes.
func Condense(b *Batch, with any, size int64) { b.condensed = condensed{with, size, with != nil} }
