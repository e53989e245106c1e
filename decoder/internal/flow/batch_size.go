package flow

// What the members of a batch take, bytes.
const (
	rangeBytes  = 16
	stampBytes  = 24
	noteBytes   = 272
	walkedBytes = 12
)

// BatchSize is what b takes in memory, bytes.
func BatchSize(b *Batch) int64 {
	return int64(cap(b.Ranges)*rangeBytes+cap(b.Stamps)*stampBytes+cap(b.Notes)*noteBytes+cap(b.Walked)*walkedBytes) + b.condensed.size
}

// BatchFilled is what b would take with no room left, bytes, while it is being condensed.
func BatchFilled(b *Batch) int64 {
	return int64(len(b.Ranges)*rangeBytes+len(b.Stamps)*stampBytes+len(b.Notes)*noteBytes) + b.condensed.size
}
