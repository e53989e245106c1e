package event

// SyncPoint is a place where a stream may be entered: a segment begins there.
type SyncPoint struct {
	Off int64 // in the stream, bytes
	// Time is what the sync point states of its moment: nothing behind it happened
	// before Lo, and all before it had happened by Hi, ns. It counts only if Timed.
	Time  Time
	Timed bool
	Host  bool // it states that it is not inside of a virtual machine
	First bool // nothing before it leads to it: the stream starts there, or was lost
}

// Bytes gives parts of a stream to those who look for sync points in it.
type Bytes interface {
	// Bytes returns the n bytes from offset off of the stream on, fewer at the stream's
	// end. They must not be changed, and are valid until the next call.
	Bytes(off, n int64) []byte
}
