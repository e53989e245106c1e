// Package packettext is the text form of packets: a packet a line, the word of its
// kind first, its fields behind that. What a protocol writes stands in its Table. A
// Codec reads the text back.
//
// It knows no protocol. The packages of the protocols (pt, coresight/etmv4 and those
// beside it) have a Table and a Codec each. docs/formats has a page on the text form of
// each, and the tables there are tested against these.
//
// Start reading in table.go and field.go.
package packettext
