// Package learn says which code may have lain where trace and code contradict each
// other, and which of it the trace shows.
//
// In: Visits, the places where flow and trace fell apart, each with the instructions
// that led there; code by address; symbols; candidates out of tables. Out: Ideas, and
// of these the ones that hold, by a Try that the caller answers by decoding.
//
// An idea is other code at one site, such as the kernel itself may put there (Linux
// v6.1): a NOP or a jump at a jump label, a call or a NOP at a static call or at the
// entry of a traced function, the byte under a breakpoint that was left armed.
//
// Nothing here decodes a trace, and nothing here is believed: what holds at the visits
// that were tried is a hypothesis until all visits were decoded with it.
package learn
