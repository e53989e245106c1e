package sideband

// Kept copies pieces of bytes that alias a file. Many copies share one piece of memory.
type Kept struct {
	room []byte // where the next copy goes
}

// Clone returns a copy of b; nil of nothing. Appending to a copy makes a new one.
func (k *Kept) Clone(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	if cap(k.room)-len(k.room) < len(b) {
		k.room = make([]byte, 0, max(len(b), 4096))
	}
	from := len(k.room)
	k.room = append(k.room, b...)
	return k.room[from:len(k.room):len(k.room)]
}
