package decisions

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
)

// maxLine is how long a line of a log may be; the longest that is written is shorter.
const maxLine = 1 << 20

// segment is one file of a log, named by its first record.
type segment struct {
	path  string
	first uint64
	bytes int64
}

var segmentName = lazyregexp.New(`^(\d{12})\.jsonl$`)

func segmentPath(dir string, first uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%012d.jsonl", first))
}

// segments are the files of a log, oldest first.
func segments(dir string) (list []segment, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		m := segmentName().FindStringSubmatch(f.Name())
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
	n     int   // 1, 2, 3 …
	at    int64 // offset
	text  []byte
	whole bool // it ends with a newline
}

var errLongLine = errors.New("the line is longer than a record can be")

// lines gives every line of a segment to take, until that says false. The text is good
// until the next one.
func (s segment) lines(take func(line) bool) error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, maxLine)
	in.Split(withNewline)
	at, n := int64(0), 1
	for ; in.Scan(); n++ {
		l := line{n: n, at: at, text: in.Bytes()}
		at += int64(len(l.text))
		l.text, l.whole = bytes.CutSuffix(l.text, []byte("\n"))
		if !take(l) {
			return nil
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%s:%d: %w", s.path, n, errLongLine)
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

// withNewline splits into lines that keep their newline.
func withNewline(data []byte, atEnd bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEnd && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// begins is the first record of a segment.
func (s segment) begins() (first *Record, err error) {
	found := fmt.Errorf("%s: it is empty", s.path)
	err = read([]segment{s}, func(r *Record, broken error) bool {
		first, found = r, broken
		return false
	})
	return first, cmp.Or(err, found)
}
