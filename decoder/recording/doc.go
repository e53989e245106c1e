// Package recording names what can be opened, and what a recording says of
// itself besides its trace.
package recording
