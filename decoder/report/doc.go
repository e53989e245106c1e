// Package report answers questions about a whole recording, as values and not as text:
//
//   - What in it does not fit together (Check)?
//   - How much was executed, how surely, and with which gaps (Summarise)?
//   - Which breakpoint exceptions were taken (Traps), and how did each CPU cross each
//     change to code (Crossings)?
//   - What was the code at a moment (Disassemble), and how did it change (Diff)?
//
// Each decodes what a decoder.Query asks for, but for Disassemble and Diff, which read
// only code. Rows of flow, one for each instruction or call, are a matter of packages rows
// and calls.
//
// Start reading in check.go; crossing.go has how CPUs cross changes.
package report
