package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
)

// read is a parsed line with its readings.
type read struct {
	row  Row
	sums []*Sum
	err  error
}

// Read adds every reply of a corpus. It prints and counts unreadable lines.
func (r *Report) Read(name string, in io.Reader, variants []Variant, world guard.World,
	tell io.Writer) (broken int, err error) {
	lines := jsontext.Reader{In: in}
	jsontext.InOrder(lines.All(), func(l jsontext.Line) (out read) {
		c, err := Parse(l.Text, fmt.Sprintf("%s:%d", name, l.N))
		if err != nil {
			return read{err: err}
		}
		out.row, out.sums, out.err = Run(&c, variants, world)
		return out
	}, func(one read) {
		if one.err != nil {
			broken++
			fmt.Fprintln(tell, one.err)
			return
		}
		r.Add(one.row, one.sums)
	})
	return broken, lines.Err
}

// Files are the paths of a report; empty: not written.
type Files struct{ HTML, JUnit, JSON string }

// Save writes the report.
func (r *Report) Save(to Files) error {
	for _, one := range []struct {
		path  string
		write func(io.Writer) error
	}{{to.HTML, r.HTML}, {to.JUnit, r.JUnit}, {to.JSON, r.JSON}} {
		if one.path == "" {
			continue
		}
		var out bytes.Buffer
		if err := one.write(&out); err != nil {
			return fmt.Errorf("write %s: %w", one.path, err)
		}
		if err := atomicfile.Write(one.path, out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// JSON writes the report as JSON.
func (r *Report) JSON(out io.Writer) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
