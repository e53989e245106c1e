// Package recording reads what was recorded, wherever it lies: perf.data, a snapshot of
// trace buffers and memory, raw trace, or an event stream. All of them become one
// plain value, a Recording.
package recording
