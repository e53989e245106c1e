// Package stream holds the streams of trace sources: their bytes, their protocols (a
// table with a row for each), the segments that they decode in, and their losses.
package stream
