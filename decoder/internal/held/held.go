// Package held counts memory that parts of a flow hold, and shares it out.
//
// In: how many bytes who takes and gives back. Out: whether so many are left, and the most that were ever held.
package held

import (
	"sync"
	"sync/atomic"
)

// Budget is bytes that many share.
type Budget struct {
	Left int64 // bytes; it is set before others use it

	mu sync.Mutex
}

// Claim takes n bytes, if so many are left.
func (b *Budget) Claim(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.Left {
		return false
	}
	b.Left -= n
	return true
}

// Refund gives n bytes back.
func (b *Budget) Refund(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Left += n
}

// Meter counts bytes that are held, and the most that ever were.
type Meter struct{ Now, Most atomic.Int64 }

// Count counts n bytes more, or less.
func (m *Meter) Count(n int64) {
	now := m.Now.Add(n)
	for most := m.Most.Load(); now > most && !m.Most.CompareAndSwap(most, now); most = m.Most.Load() {
	}
}
