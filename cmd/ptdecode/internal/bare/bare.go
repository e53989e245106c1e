// Package bare reads the flags that name a trace unit's trace, or machine code, in a file of its
// own, without any recorder: boards, debuggers and fuzzers dump it so. In: --pt CPU:FILE, --etm ID:FILE and what
// the unit's registers hold, or --text FILE@ADDR. Out: streams and code for decoder.Config.
package bare

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/snapshot"
)

// Trace reads [CPU:]FILE of a protocol's flag: a decimal number and a colon in front are the CPU.
func Trace(p *decoder.Protocol, s string) (decoder.RawTrace, error) {
	r := decoder.RawTrace{Protocol: p, Path: s}
	n, path, ok := strings.Cut(s, ":")
	if ok && !isNumber(n) && !exists(s) && exists(path) {
		return r, fmt.Errorf("--%s %s: no such file, and %q is no CPU number: need [CPU:]FILE", p.RawFlag, s, n)
	}
	if ok && isNumber(n) {
		cpu, err := strconv.ParseInt(n, 10, 32)
		if err != nil {
			return r, fmt.Errorf("--%s %s: %q is no CPU number", p.RawFlag, s, n)
		}
		r.CPU, r.Path = int32(cpu), path
	}
	if r.Path == "" {
		return r, fmt.Errorf("--%s %q names no file", p.RawFlag, s)
	}
	return r, nil
}

// exists reports whether there is a file or a directory called name.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// isNumber reports whether s is decimal digits and nothing else.
func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Traces returns the files that each --etm names, as [ID:]FILE; the trace ID is hexadecimal.
// config is what all of their units are configured as: registers, NAME=value with commas
// between, or the name of an ini file.
func Traces(etm []string, config string) (list []decoder.RawTrace, err error) {
	if len(etm) == 0 {
		if config != "" {
			return nil, fmt.Errorf("--etm-config %s: no --etm ID:FILE goes with it", config)
		}
		return nil, nil
	}
	if config == "" {
		return nil, fmt.Errorf("--etm %s: it needs --etm-config with the unit's TRCCONFIGR, TRCIDR0, TRCIDR1 and TRCIDR2: how the trace is to be read is not in it", etm[0])
	}
	name, text := "--etm-config", []byte(config)
	if !strings.Contains(config, "=") {
		name = config
		if text, err = host.ReadText(config); err != nil {
			return nil, fmt.Errorf("--etm-config: %w", err)
		}
	}
	for _, s := range etm {
		id, path := uint64(0), s
		if n, rest, ok := strings.Cut(s, ":"); ok {
			if x, err := strconv.ParseUint(strings.TrimPrefix(n, "0x"), 16, 64); err == nil {
				if id, path = x, rest; id < 1 || id > 0x6f { // IHI0029, "ATIDs": the others are reserved
					return nil, fmt.Errorf("--etm %s: trace ID %x, need 1 to 6f", s, id)
				}
			}
		}
		if path == "" {
			return nil, fmt.Errorf("--etm %q names no file", s)
		}
		if id == 0 && !strings.Contains(string(text), "TRCTRACEIDR") {
			return nil, fmt.Errorf("--etm %s: of which trace ID? Write ID:%s, hexadecimal, or give TRCTRACEIDR in --etm-config", s, path)
		}
		c, err := snapshot.Unit(name, text, uint8(id))
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(decoder.Protocols(), func(p *decoder.Protocol) bool { return p.Unit == c.Protocol })
		r := decoder.RawTrace{Protocol: decoder.Protocols()[i], CPU: -1, Path: path, Unit: c, ID: fmt.Sprintf("%x", c.ID)}
		if k := slices.IndexFunc(list, func(o decoder.RawTrace) bool { return o.ID == r.ID }); k >= 0 {
			return nil, fmt.Errorf("--etm %s: trace ID %s has %s already", s, r.ID, list[k].Path)
		}
		list = append(list, r)
	}
	return list, nil
}
