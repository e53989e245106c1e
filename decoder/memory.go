package decoder

// defaultMemory is Config.Memory where it is not said, bytes.
const defaultMemory = 1 << 30

// MinMemory is what a smaller Config.Memory counts as, bytes.
const MinMemory = 64 << 20

// memoryOf is what all buffers of a session may take, bytes.
func memoryOf(c *Config) int64 {
	if c.Memory <= 0 {
		return defaultMemory
	}
	return max(c.Memory, MinMemory)
}

// shares is what parts of a flow may take of Config.Memory, bytes.
type shares struct {
	part  int64 // one part of a job's flow, of which a job may hold two
	back  int64 // flow kept to be read backwards, of all jobs
	least int64 // the same of one job, whatever the others take
	idle  int   // followers that wait for their stream's next job
}

// What a part of a job's flow takes at least, so that handing it over costs
// little, and at most, bytes.
const (
	minPart = 64 << 10
	maxPart = 256 << 10
)

// followerBytes is what a follower takes about, bytes.
const followerBytes = 256 << 10

// shared divides memory among a flow of so many streams, of which so many jobs are
// under way at once. docs/architecture.md has the same.
func shared(memory int64, streams, jobs int) shares {
	part := memory / 4 / int64(2*jobs+streams+1)
	part = min(max(part, minPart), maxPart)
	return shares{part: part, back: memory * 3 / 8, least: part, idle: int(memory / 16 / followerBytes)}
}

// segmentShare is what the segments found of one of so many streams may take.
func segmentShare(memory int64, streams int) int64 {
	return memory / 64 / int64(max(streams, 1))
}

// namesShare is what tables of names may take: those of programs' files.
func namesShare(memory int64) int64 { return memory / 16 }

// toldShare is what may be kept of flow that was decoded to learn, bytes.
func toldShare(memory int64) int64 { return memory * 3 / 8 }

// unconfirmedShare is what a walker may hold back, flow.Config.MaxUnconfirmed. What comes
// out may depend on it, so it depends on nothing but memory.
func unconfirmedShare(memory int64) int {
	return int(min(max(memory>>12, 1<<12), 1<<18))
}
