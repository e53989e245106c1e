// Package learn says which code may have lain where trace and code contradict each
// other, and which of it the trace shows.
//
// In: Visits, the places where flow and trace fell apart, each with the instructions
// that led there; code by address; symbols; candidates out of tables. Out: Ideas, and
// of these the ones that hold, by a Try that the caller answers by decoding.
//
// An idea is other code at one site, such as the kernel itself may put there (Linux
// v6.1). A jump label has a NOP or a jump, a static call and the entry of a traced
// function a call or a NOP. Under a breakpoint that was left armed lies another byte.
//
// Nothing here decodes a trace, and nothing here is believed: what holds at the visits
// that were tried is a hypothesis until all visits were decoded with it.
package learn
