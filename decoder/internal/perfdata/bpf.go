package perfdata

import "encoding/binary"

// BPFProg is a BPF program as BPF_PROG_INFO describes it (tools/perf/util/
// header.c, write_bpf_prog_info; tools/perf/util/bpf-utils.h, struct
// perf_bpil; include/uapi/linux/bpf.h, struct bpf_prog_info).
type BPFProg struct {
	Type     uint32
	ID       uint32
	Tag      [8]byte
	Name     string
	LoadTime uint64 // ns since boot
	BTF      uint32
	Jited    []byte   // machine code of all functions, one after the other
	Ksyms    []uint64 // address of each function
	FuncLens []uint32 // bytes of each function
}

// BPFBTF is the type information of a BPF program.
type BPFBTF struct {
	ID   uint32
	Data []byte
}

// The offsets in struct bpf_prog_info of what is read, bytes. Addresses were
// turned into offsets in the data that follows (bpil_addr_to_offs).
const (
	bpfInfoJitedLen  = 16
	bpfInfoJited     = 24
	bpfInfoLoadTime  = 40
	bpfInfoName      = 64
	bpfInfoNrKsyms   = 104
	bpfInfoNrLens    = 108
	bpfInfoKsyms     = 112
	bpfInfoLens      = 120
	bpfInfoBTF       = 128
	bpfInfoNameLen   = 16
	bpfArrayJited    = 0 // bits of perf_bpil.arrays
	bpfArrayKsyms    = 3
	bpfArrayFuncLens = 4
)

// bpfProgs reads BPF_PROG_INFO: u32 number, then for each u32 info_len, u32
// data_len, u64 arrays, info, data.
func bpfProgs(c *cursor) []BPFProg {
	n := c.count(uint64(c.u32()), 16)
	var list []BPFProg
	for range n {
		infoLen, dataLen, arrays := c.u32(), c.u32(), c.u64()
		info := c.take(c.count(uint64(infoLen), 1))
		data := c.take(c.count(uint64(dataLen), 1))
		if c.short {
			break
		}
		list = append(list, bpfProg(info, data, arrays))
	}
	return list
}

func bpfProg(short, data []byte, arrays uint64) BPFProg {
	var info [136]byte
	copy(info[:], short)
	le := binary.LittleEndian
	p := BPFProg{
		Type: le.Uint32(info[0:]), ID: le.Uint32(info[4:]), LoadTime: le.Uint64(info[bpfInfoLoadTime:]),
		Name: cstring(info[bpfInfoName : bpfInfoName+bpfInfoNameLen]), BTF: le.Uint32(info[bpfInfoBTF:]),
	}
	copy(p.Tag[:], info[8:])
	// array gives n items of size bytes at the offset that a field states.
	array := func(bit uint, field int, n uint32, size int) []byte {
		off := le.Uint64(info[field:])
		if arrays>>bit&1 == 0 || off > uint64(len(data)) || uint64(n)*uint64(size) > uint64(len(data))-off {
			return nil
		}
		return data[off : off+uint64(n)*uint64(size)]
	}
	p.Jited = array(bpfArrayJited, bpfInfoJited, le.Uint32(info[bpfInfoJitedLen:]), 1)
	for b := array(bpfArrayKsyms, bpfInfoKsyms, le.Uint32(info[bpfInfoNrKsyms:]), 8); len(b) >= 8; b = b[8:] {
		p.Ksyms = append(p.Ksyms, le.Uint64(b))
	}
	for b := array(bpfArrayFuncLens, bpfInfoLens, le.Uint32(info[bpfInfoNrLens:]), 4); len(b) >= 4; b = b[4:] {
		p.FuncLens = append(p.FuncLens, le.Uint32(b))
	}
	return p
}

// bpfBTFs reads BPF_BTF: u32 number, then for each u32 id, u32 length, data.
func bpfBTFs(c *cursor) []BPFBTF {
	n := c.count(uint64(c.u32()), 8)
	var list []BPFBTF
	for range n {
		id, size := c.u32(), c.u32()
		data := c.take(c.count(uint64(size), 1))
		if c.short {
			break
		}
		list = append(list, BPFBTF{id, data})
	}
	return list
}
