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
