package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
)

// parseGuests reads values of --guest, PID=FILE[,OFFSET]. A comma belongs to the file's
// name where no number is behind it.
func parseGuests(list []string) (out []decoder.Guest, err error) {
	for _, s := range list {
		pid, file, ok := strings.Cut(s, "=")
		n, err := strconv.ParseInt(pid, 10, 64)
		if !ok || err != nil || n <= 0 || n > math.MaxInt32 {
			return nil, usagef("--guest %s: need PID=FILE[,OFFSET], PID the process that runs the virtual machine", s)
		}
		g := decoder.Guest{PID: int32(n), Recording: file}
		if i := strings.LastIndexByte(file, ','); i >= 0 {
			if g.Offset, err = strconv.ParseInt(file[i+1:], 0, 64); err == nil {
				g.Recording, g.HasOffset = file[:i], true
			}
		}
		if g.Recording == "" {
			return nil, usagef("--guest %s names no file", s)
		}
		out = append(out, g)
	}
	return out, nil
}

// ofGuest renders whose s is, behind a CPU: "@" and the process that runs the virtual
// machine, "" for the host.
func ofGuest(s *decoder.Session) string {
	if s.Meta().Guest == 0 {
		return ""
	}
	return "@" + strconv.Itoa(int(s.Meta().Guest))
}
