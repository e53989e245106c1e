// Package pieces cuts batches of flow into pieces of one time each, and says when each lies, by which streams are
// merged.
//
// Forwards a piece lies no earlier than what its stream brought before it. So one that says nothing of its time lies
// where the one before it does. Backwards it lies at the same place. What tells it comes later then, as the next batch
// or behind that; until then the piece is open.
package pieces
