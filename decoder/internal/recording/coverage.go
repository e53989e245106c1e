package recording

// covered says which changes to the kernel's code samples cover.
func (f *facts) covered(p *patches) {
}
