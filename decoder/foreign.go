package decoder

// What of the files given belongs to another boot or another recording, as far as
// the records can tell.

// Foreign says how the image of the kernel's code contradicts the recorded changes as a
// whole. An image that does so is of another boot or of another kernel. "" if it does not.
func (s *Session) Foreign() string { return s.Text().Foreign() }

// Kernel reports whether addr is the kernel's, whatever the address space.
func (s *Session) Kernel(addr uint64) bool { return addr >= s.kernel }
