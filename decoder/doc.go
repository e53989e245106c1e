// Package decoder rebuilds what each CPU executed from a recording. It opens the
// recording, cuts its streams into jobs, runs workers and merges what they deliver
// in the order of time.
//
// It is floor 4 of the house (docs/architecture.md): it assembles packages that
// do not know each other.
package decoder
