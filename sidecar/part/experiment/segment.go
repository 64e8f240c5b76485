package experiment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

const (
	lockFile = "lock"
	bornAt   = "20060102T150405.000Z"
)

// segment is one file of a folder. Its name holds its number and start time.
type segment struct {
	path  string
	n     uint64
	born  time.Time
	bytes int64
}

var segmentName = regexp.MustCompile(`^replies-(\d{9,18})-(\d{8}T\d{6}\.\d{3}Z)\.jsonl$`)

func segmentPath(dir string, n uint64, born time.Time) string {
	return filepath.Join(dir, fmt.Sprintf("replies-%09d-%s.jsonl", n, born.UTC().Format(bornAt)))
}

// segments returns the segments of a folder, oldest first, and ignores other files.
func segments(dir string) (list []segment, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		m := segmentName.FindStringSubmatch(f.Name())
		if m == nil || !f.Type().IsRegular() {
			continue
		}
		n, err := strconv.ParseUint(m[1], 10, 64)
		born, at := time.Parse(bornAt, m[2])
		info, gone := f.Info()
		switch {
		case errors.Is(gone, fs.ErrNotExist),
			errors.Join(err, at) != nil: // removed meanwhile, or not a segment
			continue
		case gone != nil:
			return nil, gone
		}
		list = append(list, segment{filepath.Join(dir, f.Name()), n, born, info.Size()})
	}
	slices.SortFunc(list, func(a, b segment) int { return cmp.Compare(a.n, b.n) })
	return list, nil
}

// mend removes an incomplete last line after a crash, so that other programs can read the file.
func (s *segment) mend() error {
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	end := s.bytes
	for buf := make([]byte, 64<<10); end > 0; {
		piece := buf[:min(end, int64(len(buf)))]
		if _, err := f.ReadAt(piece, end-int64(len(piece))); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if i := bytes.LastIndexByte(piece, '\n'); i >= 0 {
			end += int64(i + 1 - len(piece))
			break
		}
		end -= int64(len(piece))
	}
	if end == s.bytes {
		return nil
	}
	if err := f.Truncate(end); err != nil {
		return err
	}
	s.bytes = end
	return f.Sync()
}
