package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

// Against returns what was right in a saved report and is wrong now; nothing if path is empty. A report
// without anything in common is an error, since otherwise a renamed variant would pass every check.
func (r *Report) Against(path string) (worse []string, err error) {
	if path == "" {
		return nil, nil
	}
	doc, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	before, err := Baseline(doc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lines, err := r.Regressions(before)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, line := range lines {
		worse = append(worse, "was right, is wrong: "+terminal.Printable(line))
	}
	return worse, nil
}

// Regressions returns the cases that were right in an earlier report and are wrong now, by variant.
// Variants and cases of only one report do not count.
func (r *Report) Regressions(before *Report) (out []string, err error) {
	variants, cases, were := 0, 0, 0
	for i, now := range r.Variants {
		k := slices.IndexFunc(before.Variants, func(s *Sum) bool { return s.Name == now.Name })
		if k < 0 {
			continue
		}
		right := map[string]bool{}
		for _, key := range before.Variants[k].RightCases {
			right[key] = true
		}
		variants, were = variants+1, were+len(right)
		for _, row := range r.All {
			if !row.Labelled || !right[row.key] {
				continue
			}
			if cases++; !row.Made[i].Right {
				out = append(out, now.Name+": "+row.ID+" ("+row.Place+")")
			}
		}
	}
	switch {
	case variants == 0:
		return nil, fmt.Errorf("nothing to compare with: its variants are %s, and these are %s",
			strings.Join(before.names(), ", "), strings.Join(r.names(), ", "))
	case cases == 0 && were > 0:
		return nil, errors.New("nothing to compare with: no case that was right there is in these corpora")
	}
	return out, nil
}

// Baseline reads a report that was saved as JSON.
func Baseline(doc []byte) (*Report, error) {
	var r Report
	if err := json.Unmarshal(doc, &r); err != nil {
		return nil, fmt.Errorf("this is no report of eval --json: %w", jsontext.Error(err))
	}
	if len(r.Variants) == 0 || slices.Contains(r.Variants, nil) {
		return nil, errors.New("this is no report of eval --json: it has no variants")
	}
	for _, s := range r.Variants {
		if s.Right != len(s.RightCases) {
			return nil, fmt.Errorf("%s: the report does not name the cases that were right; save it again",
				s.Name)
		}
	}
	return &r, nil
}
