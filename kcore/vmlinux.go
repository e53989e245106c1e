package kcore

// relocation returns what to add to the addresses of a vmlinux.
func (s *elfSource) relocation(k *Kallsyms) (shift uint64, onlyText bool, err error) {
	return 0, false, nil
}

func readModule(s elfSource, opt ImageOptions) (*Image, error) {
	return nil, s.errorf(0, "ELF: a relocatable file")
}
