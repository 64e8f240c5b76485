package experiment

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
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

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// ReadCaptures calls take for the records of a folder since a time, oldest first, until take returns false.
// It skips and counts damaged lines. An incomplete last line is not damage: it may still be written.
func ReadCaptures(dir string, since time.Time, take func(*CaptureRecord) bool) (damaged int, err error) {
	list, err := segments(dir)
	if err != nil {
		return 0, fmt.Errorf("read recorded replies: %w", err)
	}
	more := true
	for i := 0; i < len(list) && more; i++ {
		if i+1 < len(list) && list[i+1].born.Before(since) {
			continue // all its records are older
		}
		f, err := os.Open(list[i].path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return damaged, fmt.Errorf("read recorded replies: %w", err)
		}
		n, err := read(f, func(r *CaptureRecord) bool {
			more = r.At.Before(since) || take(r)
			return more
		})
		damaged += n
		if err = errors.Join(err, f.Close()); err != nil {
			return damaged, fmt.Errorf("read recorded replies: %s: %w", list[i].path, err)
		}
	}
	return damaged, nil
}

// read is ReadCaptures for one segment.
func read(in io.Reader, take func(*CaptureRecord) bool) (damaged int, err error) {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, whole, err := nextLine(lines)
		switch {
		case errors.Is(err, io.EOF):
			return damaged, nil
		case err != nil:
			return damaged, err
		}
		if r, ok := recordOf(line); !whole || !ok {
			damaged++
		} else if !take(r) {
			return damaged, nil
		}
	}
}

// nextLine returns the next line with its newline. whole is false for a line that is too long, which is
// skipped. An incomplete line at the end counts as the end.
func nextLine(in *bufio.Reader) (line []byte, whole bool, err error) {
	whole = true
	for {
		piece, err := in.ReadSlice('\n')
		if whole = whole && len(line)+len(piece) <= maxLine; whole {
			line = append(line, piece...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

func recordOf(line []byte) (*CaptureRecord, bool) {
	var r CaptureRecord
	if json.Unmarshal(line, &r) != nil || r.At.IsZero() {
		return nil, false
	}
	return &r, true
}

// findCapture returns the newest record with an id.
func findCapture(dir, id string) (found *CaptureRecord, err error) {
	_, err = ReadCaptures(dir, time.Time{}, func(r *CaptureRecord) bool {
		if r.ID == id {
			found = r
		}
		return true
	})
	if err == nil && found == nil {
		err = fmt.Errorf("no recorded reply has the id %q; list them with: gpt-oss-executor capture list", id)
	}
	return found, err
}

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

// hold locks a folder for writing by this process, until the file is closed.
func hold(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Lock(f, 0); err != nil {
		f.Close()
		if errors.Is(err, atomicfile.ErrHeld) {
			err = errCapturesHeld
		}
		return nil, err
	}
	return f, nil
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

// labelled is a record whose reading is its expected result.
type labelled struct {
	*CaptureRecord
	Expect expected `json:"expect"`
}

type expected struct {
	Calls   []expectedCall `json:"calls"`
	Content string         `json:"content"`
}

type expectedCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// whole returns an error for an incomplete record, whose reading would differ.
func (r *CaptureRecord) whole() error {
	for _, part := range [...]string{"message", "content", "reasoning", "calls", "tools", "reading.content",
		"reading.calls"} {
		if n, is := r.Cut[part]; is {
			return fmt.Errorf("%s: its %s were too long to be recorded (%d), so it cannot be promoted", r.ID,
				part, n)
		}
	}
	return nil
}

// Labelled returns the record as a line of a corpus, with its reading as the expected result and without
// messages.
func (r *CaptureRecord) Labelled() ([]byte, error) {
	if err := r.whole(); err != nil {
		return nil, err
	}
	bare := *r
	bare.Request = nil
	l := labelled{&bare, expected{Calls: []expectedCall{}, Content: r.content()}}
	for _, c := range r.Reading.Calls {
		l.Expect.Calls = append(l.Expect.Calls, expectedCall{c.Name, c.Arguments})
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(l)
	return buf.Bytes(), err
}

// appendCases appends records to a corpus, and returns their number. Records that it already has, perhaps
// corrected by a person, stay as they are. A missing newline at the end is added.
func appendCases(path string, records []*CaptureRecord) (n int, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, fileMode)
	if err != nil {
		return 0, fmt.Errorf("write corpus: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	there := map[string]bool{}
	lines := jsontext.Reader{In: f}
	for l := range lines.All() {
		var one struct {
			ID any `json:"id"`
		}
		_ = json.Unmarshal(l.Text, &one) // other lines are ignored
		there[fmt.Sprint(one.ID)] = true
	}
	if lines.Err != nil {
		return 0, fmt.Errorf("read corpus: %w", lines.Err)
	}
	var text []byte
	for _, r := range records {
		line, err := r.Labelled()
		if err != nil {
			return 0, err
		}
		if !there[r.ID] {
			there[r.ID] = true
			text = append(text, line...)
			n++
		}
	}
	if n == 0 {
		return 0, nil
	}
	if info, err := f.Stat(); err != nil {
		return 0, fmt.Errorf("write corpus: %w", err)
	} else if last := make([]byte, 1); info.Size() > 0 {
		if _, err := f.ReadAt(last, info.Size()-1); err != nil {
			return 0, fmt.Errorf("write corpus: %w", err)
		}
		if last[0] != '\n' {
			text = append([]byte("\n"), text...)
		}
	}
	if _, err := f.Write(text); err != nil {
		return 0, fmt.Errorf("write corpus: %w", err)
	}
	return n, nil
}

// Replay returns the reply as a record for replay.
func (r *CaptureRecord) Replay() (*replay.Record, error) {
	doc, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var out replay.Record
	return &out, json.Unmarshal(doc, &out)
}

// Test reads the reply by a rule set, and returns the test that expects the result.
func (r *CaptureRecord) Test(set *ruleset.Set, in guard.World) (ruleset.Recording, error) {
	rec, err := r.Replay()
	if err = errors.Join(r.whole(), err); err != nil {
		return ruleset.Recording{}, err
	}
	profile := r.Profile
	if profile == ruleset.DefaultProfile {
		profile = ""
	}
	return replay.RecordTest(set, in, profile, "recorded "+r.ID, rec)
}
