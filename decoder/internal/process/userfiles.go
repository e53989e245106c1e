package process

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// The files that processes mapped: where they may lie, and which is the right one.

// file returns the contents of what m maps: by build ID first, then by path.
func (u *Spaces) file(m *Mapping) *userFile {
	id := hex.EncodeToString(m.BuildID)
	key := m.Path + "\x00" + id
	u.mu.Lock()
	defer u.mu.Unlock()
	if f := u.files[key]; f != nil {
		return f
	}
	f := &userFile{err: os.ErrNotExist}
	want := u.ids[m.Path]
	if id != "" {
		want = []string{id}
	}
	for _, p := range u.candidates(m.Path, want) {
		x, err := readUser(files.Tree{FS: u.FS}, p, want)
		if err == nil {
			f, x.path = x, p
			break
		}
		if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			f.err = err
		}
	}
	u.files[key] = f
	return f
}

// Listing returns the first file of which is accepts the path, and its build ID in hex, of
// those that the recording lists with one.
func (u *Spaces) Listing(is func(path string) bool) (path, id string) {
	for _, p := range slices.Sorted(maps.Keys(u.ids)) {
		if is(p) {
			return p, u.ids[p][0]
		}
	}
	return "", ""
}

// Data returns the contents of a mapped file, or why there are none.
func (u *Spaces) Data(m *Mapping) ([]byte, error) {
	f := u.file(m)
	return f.data, f.err
}

// candidates returns where the file may be, the likeliest first: perf's cache
// (tools/perf/util/build-id.c), debuginfod-like trees, then the path itself.
func (u *Spaces) candidates(path string, ids []string) []string {
	var c []string
	for _, id := range lengths(ids) {
		for _, d := range u.buildIDs {
			c = append(c,
				filepath.Join(d, ".build-id", id[:2], id[2:], "elf"),
				filepath.Join(d, ".build-id", id[:2], id[2:], "vdso"),
				filepath.Join(d, ".build-id", id[:2], id[2:]),
				filepath.Join(d, id, "executable"),
				filepath.Join(d, id[:2], id[2:]))
		}
	}
	if path != "" && path[0] == '/' && path != "//anon" {
		c = append(c, filepath.Join(u.symfs, path))
	}
	if name := filepath.Base(path); isDump(path) || isJitted(path) {
		for _, d := range u.Beside {
			c = append(c, filepath.Join(d, name))
		}
	}
	return c
}

// readUser reads a whole file, unpacked if it is packed. One whose build ID is
// none of those wanted is another file than the one that ran.
func readUser(tree files.Tree, path string, want []string) (*userFile, error) {
	st, err := tree.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, os.ErrNotExist
	}
	u, err := readSparse(tree, path)
	if err != nil || len(want) == 0 {
		return u, err
	}
	have := image.BuildID(u.data)
	if !slices.ContainsFunc(want, func(w string) bool { return sameID(hex.EncodeToString(have), w) }) {
		return nil, &otherFile{path, hex.EncodeToString(have), want[0]}
	}
	if u.held != nil {
		image.HoldBuildID(u.data, u.held)
	}
	return u, nil
}

// readSparse reads a whole file, or of one that lacks parts what is there.
func readSparse(tree files.Tree, path string) (*userFile, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var magic [4]byte
	n, _ := f.ReadAt(magic[:], 0)
	if s, ok := f.(files.Sparse); ok && files.Packing(magic[:n]) == "" {
		data, err := s.Whole()
		return &userFile{data: data, held: s.Held}, err
	}
	data, err := tree.Read(path)
	return &userFile{data: data}, err
}

// otherFile is a file that is not the one that ran.
type otherFile struct {
	path       string
	have, want string // build IDs, hex; have is empty if it has none
}

// Error renders file+0xoff: thing: what.
func (e *otherFile) Error() string {
	have := e.have
	if have == "" {
		have = "none"
	}
	return fmt.Sprintf("%s+0x0: build ID: %s, need %s, of the file that ran", e.path, have, e.want)
}

// idLen is how many bytes of a build ID recordings keep. A longer one is cut to it,
// and a shorter one may be padded with zeros (simpleperf/build_id.h, class BuildId;
// tools/perf/util/build-id.h, BUILD_ID_SIZE).
const idLen = 20

// padded returns a build ID in hex as recordings keep it at full length.
func padded(id string) string {
	id = id[:min(len(id), 2*idLen)]
	return id + strings.Repeat("0", 2*idLen-len(id))
}

// sameID reports whether the build ID of a file, in hex, is the one that a recording
// tells. A file without one is not the file that ran.
func sameID(have, told string) bool {
	return have != "" && padded(have) == padded(told)
}

// lengths returns build IDs in hex as files may be named by them. To each it adds
// those of the usual lengths (SHA-1's 20 bytes, MD5's 16, lld's fast 8) that padding
// may have made it of.
func lengths(ids []string) (list []string) {
	for _, id := range ids {
		if len(id) <= 2 {
			continue
		}
		list = append(list, id)
		for _, n := range []int{16, 8} {
			if len(id) > 2*n && strings.Trim(id[2*n:], "0") == "" {
				list = append(list, id[:2*n])
			}
		}
	}
	return list
}
