package held

// defaultMemory is what a session takes where it is not said, bytes.
const defaultMemory = 1 << 30

// MinMemory is the least that it takes, bytes.
const MinMemory = 64 << 20

// Memory is what all buffers of a session may take that is asked to take so many bytes; 0: that is not said.
func Memory(asked int64) int64 {
	if asked <= 0 {
		return defaultMemory
	}
	return max(asked, MinMemory)
}

// Shares is what parts of a flow may take of a session's memory, bytes.
type Shares struct {
	Part  int64 // one part of a job's flow: a job fills one, and Waiting more may wait
	Back  int64 // flow kept to be read backwards, of all jobs
	Least int64 // the same of one job, whatever the others take
	Idle  int   // followers that wait for their stream's next job
}

// What a part of a job's flow takes at least, so that handing it over costs
// little, and at most, bytes.
const (
	MinPart = 64 << 10
	MaxPart = 256 << 10
)

// Waiting is how many parts of a job's flow may wait to be taken. With fewer, goroutines wait for each other more often,
// which costs time.
const Waiting = 4

// followerBytes is what a follower takes about, bytes.
const followerBytes = 256 << 10

// Shared divides memory among a flow of so many streams, of which so many jobs are
// under way at once. docs/architecture.md has the same.
func Shared(memory int64, streams, jobs int) Shares {
	part := memory / 4 / int64((1+Waiting)*jobs+streams+1)
	part = min(max(part, MinPart), MaxPart)
	return Shares{Part: part, Back: memory * 3 / 8, Least: part, Idle: int(memory / 16 / followerBytes)}
}

// SegmentShare is what the segments found of one of so many streams may take.
func SegmentShare(memory int64, streams int) int64 {
	return memory / 64 / int64(max(streams, 1))
}

// NamesShare is what tables of names may take: those of programs' files.
func NamesShare(memory int64) int64 { return memory / 16 }

// ToldShare is what may be kept of flow that was decoded to learn, bytes.
func ToldShare(memory int64) int64 { return memory * 3 / 8 }

// UnconfirmedShare is what a walker may hold back, flow.Config.MaxUnconfirmed. What comes
// out may depend on it, so it depends on nothing but memory.
func UnconfirmedShare(memory int64) int {
	return int(min(max(memory>>12, 1<<12), 1<<18))
}
