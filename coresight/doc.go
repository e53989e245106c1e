// Package coresight holds what Arm's trace protocols share: the frames in which a trace
// sink stores several sources (Deframer, Formatter), and the configuration that a
// source's packets leave out (Config). It reads no packets. The protocols themselves are
// in the folders below it: etmv4 (with ETE), etmv3, ptm, stm and itm.
//
// Frames follow the CoreSight Architecture Specification (IHI0029, chapter
// "Formatter"), which is also described in the CoreSight Components manual
// DDI0314H, section "TPIU formatter and FIFO". Register layouts follow the Embedded
// Trace Macrocell Architecture Specifications (IHI0064 ETMv4, IHI0014Q ETMv1 to
// ETMv3), and the Program Flow Trace specification (IHI0035B). They also follow the
// Architecture Reference Manuals DDI0487 (ETE, chapter "ETE registers") and DDI0403
// (ITM), and the STM specification (IHI0054). Sections are named by their titles, since
// their numbers change with the issue.
//
// Start reading in config.go and registers.go, for what a trace unit was set up to do.
// The frames are drawn in frame.go; deframe.go takes them apart.
package coresight
