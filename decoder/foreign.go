package decoder

// What of the files given belongs to another boot or another recording, as far as
// the records can tell.

// Foreign says how the image contradicts the journal as a whole; "" if it does
// not: then it is of another boot or another kernel.
func (s *Session) Foreign() string { return s.Text().Foreign() }

// Kernel reports whether addr is the kernel's, whatever the address space.
func (s *Session) Kernel(addr uint64) bool { return addr >= s.kernel }
