package recording

// hintKallsyms says what to do about symbols without addresses.
const hintKallsyms = "copy /proc/kallsyms as root, or with sysctl kernel.kptr_restrict=0; without it nothing has a name"

// What to do about a recording.
const (
	hintCutShort = "what is there is read; the rest is lost: look for a full disk or a reader that ended early, and record again"
	hintFilter   = "say it with --filter; without it, where a branch leaves the filtered code shows as a gap"
	hintNoPoke   = "record with perf record --kcore, which asks for TEXT_POKE records; without them a change shows only as gaps"
)
