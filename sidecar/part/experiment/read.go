package experiment

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
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
