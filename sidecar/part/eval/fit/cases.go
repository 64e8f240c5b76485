package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Case is a reply of which it is known which calls are meant.
type Case struct {
	line int
	rec  *replay.Record
	want *replay.Expect
}

// Cases reads labelled replies, a record with "expect" on each line.
func Cases(in io.Reader) (out []Case, _ error) {
	lines := jsontext.Reader{In: in}
	for l := range lines.All() {
		c := Case{line: l.N, rec: &replay.Record{}}
		err := jsontext.Error(json.Unmarshal(l.Text, c.rec))
		if err == nil {
			c.want, err = c.rec.Expected()
		}
		if err == nil && (c.want == nil || c.want.Calls == nil) {
			err = errors.New(`it does not say which calls are meant; add "expect": {"calls": […]}, with [] for none`)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", l.N, err)
		}
		out = append(out, c)
	}
	return out, lines.Err
}

// take labels what is weighed in a case.
func (s Samples) take(set *ruleset.Set, c Case) error {
	e, err := replay.Explain(set, guard.World{}, "", c.rec)
	if err != nil {
		return fmt.Errorf("line %d: %w", c.line, err)
	}
	s.label(e.Texts, c.want.Call)
	return nil
}
