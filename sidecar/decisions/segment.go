package decisions

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// maxLine is the longest valid line, in bytes; the longest that is written is shorter.
const maxLine = 1 << 20

// segment is one file of a log, named by its first record.
type segment struct {
	path  string
	first uint64
	bytes int64
}

var segmentName = regexp.MustCompile(`^(\d{12})\.jsonl$`)

func segmentPath(dir string, first uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%012d.jsonl", first))
}

// segments returns the files of a log, oldest first.
func segments(dir string) (list []segment, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		m := segmentName.FindStringSubmatch(f.Name())
		if m == nil {
			continue
		}
		info, err := f.Info()
		if err != nil {
			return nil, err
		}
		first, err := strconv.ParseUint(m[1], 10, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, segment{filepath.Join(dir, f.Name()), first, info.Size()})
	}
	slices.SortFunc(list, func(a, b segment) int { return cmp.Compare(a.first, b.first) })
	return list, nil
}

// line is one line of a segment.
type line struct {
	n     int   // from 1
	at    int64 // offset
	text  []byte
	whole bool // it ends with a newline
	long  bool // longer than a record can be; its text is incomplete
}

var errLongLine = errors.New("the line is longer than a record can be")

func (l line) record() (Record, error) {
	if l.long {
		return Record{}, errLongLine
	}
	return parse(l.text)
}

// lines passes the lines of a segment to take, until it returns false. The text is valid until the
// next one.
func (s segment) lines(take func(line) bool) error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lines(f, take); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

func lines(from io.Reader, take func(line) bool) (err error) {
	in, text := bufio.NewReaderSize(from, 64<<10), []byte(nil)
	for l := (line{n: 1}); ; l.n++ {
		text, err = text[:0], bufio.ErrBufferFull
		size := int64(0)
		for errors.Is(err, bufio.ErrBufferFull) {
			var part []byte
			part, err = in.ReadSlice('\n')
			if size += int64(len(part)); len(text) <= maxLine {
				text = append(text, part...)
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		l.text = bytes.TrimSuffix(text, []byte("\n"))
		l.whole, l.long = err == nil, len(l.text) > maxLine
		if size > 0 && !take(l) || err != nil {
			return nil
		}
		l.at += size
	}
}

// firstRecord returns the first record of a segment.
func (s segment) firstRecord() (first *Record, err error) {
	found := fmt.Errorf("%s: it is empty", s.path)
	err = readSegments([]segment{s}, func(r *Record, broken error) bool {
		first, found = r, broken
		return false
	})
	return first, cmp.Or(err, found)
}

// lastRecord returns the last record of a segment.
func (s segment) lastRecord() (last Record, err error) {
	found := fmt.Errorf("%s: it is empty", s.path)
	err = s.back(func(l line) bool {
		last, found = l.record()
		return false
	})
	return last, cmp.Or(err, found)
}

// Times is a period. A zero time is no bound.
type Times struct {
	Since time.Time
	Until time.Time // exclusive
}

// contains reports whether a time is in the period.
func (t *Times) contains(at time.Time) bool {
	return !at.Before(t.Since) && (t.Until.IsZero() || at.Before(t.Until))
}

// excludes reports whether a segment was written before or after the period. It is false if the clock
// was set back in it.
func (t *Times) excludes(s segment) bool {
	if *t == (Times{}) {
		return false
	}
	first, err := s.firstRecord()
	if err != nil {
		return false
	}
	last, err := s.lastRecord()
	if err != nil || last.Time.Before(first.Time) {
		return false
	}
	return last.Time.Before(t.Since) || !t.Until.IsZero() && !first.Time.Before(t.Until)
}
