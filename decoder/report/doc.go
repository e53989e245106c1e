// Package report answers questions about a whole recording. What in it does not fit
// together? Which breakpoint exceptions were taken, and how did the CPUs cross each
// change to code? What was the code at a moment?
package report
