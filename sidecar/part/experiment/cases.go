package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

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
