// Package packettext is the text form of packets: a packet a line, the word of its
// kind first, its fields behind that. What a protocol writes stands in its Table. A
// Codec reads the text back.
package packettext
