// Package stream holds trace streams: the bytes of a trace source, the protocol
// that they speak (a row of the table of protocols), the segments that they decode
// in, and what of them was lost.
package stream
