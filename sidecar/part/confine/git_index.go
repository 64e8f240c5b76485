package confine

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// index is git's index of a folder: the hash of each file by name. A program that can write the index can add
// names, so only a file with the same hash counts as tracked.
type index map[string][sha1.Size]byte

// How long an index, and a secret that is compared with it, may be; and a name in an index, and all
// of its names: in version 4 a few bytes stand for a long name.
const (
	maxIndex  = 16 << 20
	maxSecret = 1 << 20
	maxName   = 4096 // PATH_MAX
	maxNames  = 32 << 20
)

// readIndex reads the index of a folder. An unreadable index tracks nothing.
func readIndex(folder string) index {
	git := filepath.Join(folder, ".git")
	if link, err := readShort(git, 4096); err == nil { // a worktree, or a module of another repository
		to, ok := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir: ")
		if !ok {
			return index{}
		}
		if git = to; !filepath.IsAbs(git) {
			git = filepath.Join(folder, to)
		}
	}
	doc, err := readShort(filepath.Join(git, "index"), maxIndex)
	if err != nil {
		return index{}
	}
	return parseIndex(doc)
}

// readShort reads a regular file of limited size. It does not wait at a pipe of that name.
func readShort(name string, most int64) ([]byte, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > most) {
		err = fmt.Errorf("%s is no file of at most %d bytes", name, most)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, most))
}

// Parts of an index, as gitformat-index(5) has them.
const (
	indexHeader = 12
	indexSum    = 40 // where the sum of an entry stands
	indexFlags  = 60
	indexName   = 62
)

// parseIndex reads an index of version 2 to 4, up to the first mistake in it.
func parseIndex(doc []byte) index {
	kept := index{}
	if len(doc) < indexHeader || string(doc[:4]) != "DIRC" {
		return kept
	}
	version, count := binary.BigEndian.Uint32(doc[4:]), binary.BigEndian.Uint32(doc[8:])
	name, room := "", maxNames
	for doc = doc[indexHeader:]; count > 0 && len(doc) > indexName; count-- {
		at := indexName
		if doc[indexFlags]&0x40 != 0 {
			at += 2 // further flags
		}
		before := ""
		if version == 4 { // names share their beginning with the one before
			drop, n := offset(doc[min(at, len(doc)):])
			if n == 0 || drop > len(name) {
				return kept
			}
			before, at = name[:len(name)-drop], at+n
		}
		end := bytes.IndexByte(doc[min(at, len(doc)):], 0)
		if end < 0 {
			return kept
		}
		if room -= len(before) + end; len(before)+end > maxName || room < 0 {
			return kept
		}
		name = before + string(doc[at:at+end])
		kept[name] = [sha1.Size]byte(doc[indexSum : indexSum+sha1.Size])
		next := at + end + 1
		if version != 4 {
			next = (at + end + 8) &^ 7
		}
		doc = doc[min(next, len(doc)):]
	}
	return kept
}

// offset reads a variable-width number of a pack and returns its length; 0: there is none.
func offset(doc []byte) (value, n int) {
	for i, c := range doc[:min(len(doc), 4)] {
		if i > 0 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// has reports whether git tracks a file with this content.
func (kept index) has(name, file string) bool {
	sum, ok := kept[name]
	if !ok {
		return false
	}
	text, err := readShort(file, maxSecret)
	return err == nil && sum == sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(text)), text...))
}

// holds reports whether git tracks anything in a folder.
func (kept index) holds(folder string) bool {
	for name := range kept {
		if isBelow(name, folder) {
			return true
		}
	}
	return false
}
