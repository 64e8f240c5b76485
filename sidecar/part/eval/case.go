// Package eval reads labelled or recorded replies with several variants of the rules, by the code that
// serves, and determines which variant reads them better, and with what confidence. It asks a model server
// only where it is told to (Live), and never runs a call.
package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Case is a reply and its expected reading, if known.
type Case struct {
	ID        string
	Category  string
	Place     string // file:line
	Record    *replay.Record
	Want      *Want             // nil: unknown
	NotJudged []string          // keys of the label that are ignored
	messages  []json.RawMessage // for Live
}

// Parse parses a case: a record as explain --jsonl takes it, with "expect". place names it in errors.
func Parse(line []byte, place string) (Case, error) {
	c, err := labelled(line, place)
	if err != nil {
		return Case{}, err
	}
	if c.Record, err = replay.ParseRecord(line); err != nil {
		return Case{}, fmt.Errorf("%s: %w", place, err)
	}
	return c, nil
}

// labelled parses a case without its reply.
func labelled(line []byte, place string) (Case, error) {
	var more struct {
		ID       json.RawMessage `json:"id"`
		Category string          `json:"category"`
		Expect   json.RawMessage `json:"expect"`
	}
	if err := json.Unmarshal(line, &more); err != nil {
		return Case{}, fmt.Errorf("%s: %w", place, jsontext.Error(err))
	}
	c := Case{ID: strings.Trim(string(more.ID), `"`), Category: more.Category, Place: place}
	if c.ID == "" {
		c.ID = place
	}
	var err error
	if c.Want, c.NotJudged, err = label(more.Expect); err != nil {
		return Case{}, fmt.Errorf("%s: expect: %w", place, err)
	}
	return c, nil
}

// Made is the reading of a case by a variant, and how correct it is.
type Made struct {
	replay.Made
	CallsOK      bool `json:"calls_ok"`
	False        int  `json:"false_calls"` // unexpected calls
	Leak         bool `json:"leak"`
	ContentOK    bool `json:"content_ok"`
	ReasoningOK  bool `json:"reasoning_ok"`
	UnresolvedOK bool `json:"unresolved_ok"` // calls of tools that were not offered are refused
	Right        bool `json:"right"`         // everything in the label is true
}

// judge compares a reading with the label.
func (w *Want) judge(m replay.Made) Made {
	out := Made{Made: m}
	if w == nil {
		return out
	}
	accepted, named := false, w.names(m.Content)
	for _, a := range w.Accept {
		text := a.Content != nil && sameText(*a.Content, m.Content)
		fits := sameCalls(a.Calls, nil, m.Calls) && (a.Content == nil || text)
		accepted, named = accepted || fits, named || fits && text
	}
	out.CallsOK = accepted || w.Calls == nil && len(w.Accept) == 0 || w.Calls != nil &&
		sameCalls(*w.Calls, w.Optional, m.Calls)
	if w.Calls != nil && !out.CallsOK {
		for _, c := range m.Calls {
			if !among(*w.Calls, c) && !among(w.Optional, c) {
				out.False++
			}
		}
	}
	out.ContentOK = accepted && !w.whole || named || !w.saysText && len(w.ContentAny) == 0
	out.ReasoningOK = w.Reasoning == nil || sameText(*w.Reasoning, m.Reasoning)
	out.UnresolvedOK = accepted ||
		!slices.ContainsFunc(w.Unresolved, func(c wantCall) bool { return !refuses(m.Refused, c.Name) })
	// a label may expect a text that quotes markup
	out.Leak = w.LeakFree && !named && markup.MatchString(m.Content)
	out.Right = out.CallsOK && !out.Leak && out.ReasoningOK && out.UnresolvedOK &&
		(w.Calls != nil && !w.whole || out.ContentOK)
	return out
}

// refuses reports whether a call of this name was refused. refused holds CODE: NAME: WHY.
func refuses(refused []string, name string) bool {
	return slices.ContainsFunc(refused, func(refusal string) bool {
		_, rest, _ := strings.Cut(refusal, ": ")
		return strings.HasPrefix(rest, name+": ")
	})
}

// markup matches what no user should see.
var markup = regexp.MustCompile(`<\|[a-z_]+\|>|assistant(?:commentary|analysis|final)|to=functions\.|</?tool_call>|\[TOOL_CALLS?\]`)

// names reports whether the label expects exactly this text.
func (w *Want) names(content string) bool {
	texts := slices.Clip(w.ContentAny)
	if w.saysText {
		texts = append(texts, w.Content)
	}
	return slices.ContainsFunc(texts, func(want *string) bool {
		return want == nil && sameText("", content) || want != nil && sameText(*want, content)
	})
}

// Variant is one way to ask and to read.
type Variant struct {
	Name    string
	Set     *ruleset.Set
	Profile string
}

// Spec is a variant as a user writes it: NAME=DIR, followed by +OVERLAY.yaml or @ID/ARM, and #PROFILE.
type Spec struct {
	Name, Dir       string
	Overlay         string // a file; empty: none
	Experiment, Arm string // empty: in no arm
	Profile         string // empty: the default one
}

// Specs parses variants. profile is their default.
func Specs(texts []string, profile string) (out []Spec, err error) {
	for _, text := range texts {
		name, where, _ := strings.Cut(text, "=")
		if name == "" || where == "" ||
			slices.ContainsFunc(out, func(s Spec) bool { return s.Name == name }) {
			return nil, fmt.Errorf("--variant %s: write NAME=DIR, each name once", text)
		}
		s := Spec{Name: name, Dir: where, Profile: profile}
		if dir, own, named := cutLast(s.Dir, "#"); named && !isFolder(s.Dir) {
			s.Dir, s.Profile = dir, own
		}
		dir, file, over := cutLast(s.Dir, "+")
		folder, arm, in := cutLast(s.Dir, "@")
		switch {
		case isFolder(s.Dir):
		case over && (strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".yml")):
			s.Dir, s.Overlay = dir, file
		case over:
			return nil, fmt.Errorf("--variant %s: %s is no folder, and %s no overlay: its name ends in .yaml",
				text, s.Dir, file)
		case in:
			var whole bool
			if s.Experiment, s.Arm, whole = strings.Cut(arm, "/"); !whole || s.Experiment == "" ||
				s.Arm == "" {
				return nil, fmt.Errorf("--variant %s: write NAME=DIR@EXPERIMENT/ARM", text)
			}
			s.Dir = folder
		}
		out = append(out, s)
	}
	return out, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i > 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Read reads the rules of a folder, or the built-in ones, beneath a locked folder.
type Read func(dir string) (rulefile.Source, rulefile.Files, error)

// Load compiles a variant. Problems of its rules are an error; warnings go to tell.
func (s Spec) Load(loader ruleset.Loader, read Read, tell io.Writer) (Variant, error) {
	src, files, err := read(s.Dir)
	if err != nil {
		return Variant{}, err
	}
	set, problems := s.compile(loader, src, files)
	if len(problems) > 0 {
		shown := problems.In(src)
		for i := range problems {
			if problems[i].File == s.Overlay { // its own name already tells the place
				shown[i].File = s.Overlay
			}
		}
		if set == nil {
			return Variant{}, fmt.Errorf("the variant %s does not load\n%w", s.Name, shown)
		}
		fmt.Fprintln(tell, shown.Error())
	}
	if s.Experiment != "" {
		if set, err = loader.Variant(set, files, s.Experiment, s.Arm); err != nil {
			return Variant{}, fmt.Errorf("the variant %s, in %s: %w", s.Name, s.Dir, err)
		}
	}
	if s.Profile != "" && !slices.Contains(set.Profiles(), s.Profile) {
		return Variant{}, fmt.Errorf("no profile %q in strategies.yaml of %s; there are %s", s.Profile, s.Dir,
			strings.Join(set.Profiles(), ", "))
	}
	return Variant{Name: s.Name, Set: set, Profile: s.Profile}, nil
}

func (s Spec) compile(loader ruleset.Loader, src rulefile.Source,
	files rulefile.Files) (*ruleset.Set, rulefile.Problems) {
	switch {
	case s.Overlay != "":
		text, err := os.ReadFile(s.Overlay)
		if err != nil {
			var where *os.PathError
			if errors.As(err, &where) {
				err = where.Err
			}
			return nil, rulefile.Unreadable(s.Overlay, err)
		}
		return loader.Overlaid(files, s.Overlay, string(text))
	case src.Dir == "" && src.Policy == "":
		return loader.LoadShipped(files)
	}
	return loader.Load(files)
}

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
