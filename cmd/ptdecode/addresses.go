package main

import (
	"fmt"
	"strconv"
	"strings"
)

// addrRange is n addresses from first on. It has no end, since there is no
// number behind the highest address.
type addrRange struct{ first, n uint64 }

// touches reports whether any of the n bytes at addr lies in r.
func (r addrRange) touches(addr, n uint64) bool {
	return addr-r.first < r.n || r.first-addr < n
}

// parseRange reads ADDR or ADDR-END, hexadecimal, END excluded; a single
// address is a range of one byte.
func parseRange(s string) (r addrRange, err error) {
	from, end, two := strings.Cut(s, "-")
	if r.first, err = parseAddr(from); err != nil {
		return r, err
	}
	if !two {
		r.n = 1
		return r, nil
	}
	behind, err := parseAddr(end)
	if err != nil {
		return r, err
	}
	if behind <= r.first {
		return r, fmt.Errorf("%s: ends before it begins", s)
	}
	r.n = behind - r.first
	return r, nil
}

// parseAddr reads an address, hexadecimal, with or without 0x.
func parseAddr(s string) (uint64, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no address: need 1 to 16 hexadecimal digits", s)
	}
	return v, nil
}
