package live

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Report describes the rules in force.
type Report struct {
	Version  string            `json:"version"`
	Since    time.Time         `json:"since"` // in force in this process
	Age      float64           `json:"age_seconds"`
	By       string            `json:"by"` // what brought them: start, watch, put, rollback, promote
	Who      string            `json:"who,omitempty"`
	Source   string            `json:"source"` // folder, program, or last_good: those of the state
	Folder   string            `json:"folder,omitempty"`
	Policy   string            `json:"policy,omitempty"`
	Files    []ReportedFile    `json:"files"`
	Counts   ruleset.Counts    `json:"counts"`
	Warnings rulefile.Problems `json:"warnings"`
	Taken    []rulefile.Taken  `json:"taken_away"`        // what files take away from others
	Refused  *Refused          `json:"refused,omitempty"` // the last refused edit, if it is newer
}

// ReportedFile is a file of the rules.
type ReportedFile struct {
	Name   string  `json:"name"`
	From   string  `json:"from"`   // folder, program, policy
	SHA256 string  `json:"sha256"` // the first 12 hex digits
	Bytes  int     `json:"bytes"`
	Text   *string `json:"text,omitempty"` // on request
}

// lastGoodSource is the source of rules from the state.
const lastGoodSource = "last_good"

// Report describes the rules in force, with the texts of the files on request. It never asks the model
// server.
func (l *Rules) Report(texts bool) Report {
	now := l.now.Load()
	r := Report{
		Version: now.set.Version, Since: now.since, Age: time.Since(now.since).Seconds(), By: now.from.by,
		Who: now.from.who, Source: rulefile.FromFolder,
		Folder: absolute(l.src.Dir), Policy: absolute(l.src.Policy), Files: []ReportedFile{},
		Counts:   now.set.Counts,
		Warnings: nonNil(now.warnings), Taken: nonNil(now.set.Taken), Refused: now.refused,
	}
	switch {
	case now.lastGood:
		r.Source = lastGoodSource
	case l.src.Dir == "":
		r.Source = rulefile.FromProgram
	}
	sums := now.files.Sums()
	for _, name := range slices.Sorted(maps.Keys(now.files)) {
		text := now.files[name]
		f := ReportedFile{Name: name, From: l.src.From(name), SHA256: sums[name], Bytes: len(text)}
		if texts {
			f.Text = &text
		}
		r.Files = append(r.Files, f)
	}
	return r
}

// Past is an entry of the history.
type Past struct {
	Version string           `json:"version"`
	At      time.Time        `json:"at"`
	By      string           `json:"by"`
	Who     string           `json:"who,omitempty"`
	Counts  ruleset.Counts   `json:"counts"`
	Taken   []rulefile.Taken `json:"taken_away,omitempty"`
	InForce bool             `json:"in_force"`
	Changed []string         `json:"changed"` // files that differ from the previous entry
}

// History returns the sets that came into force, newest first.
func (l *Rules) History() []Past {
	all, version := l.past.All(), l.Set().Version
	out := []Past{}
	for i, e := range all {
		p := Past{Version: e.Version, At: e.At, By: e.By, Who: e.Who, Counts: e.Counts, Taken: e.Taken,
			InForce: e.Version == version, Changed: []string{}}
		if i+1 < len(all) {
			p.Changed = e.Files.Differ(all[i+1].Files)
		}
		out = append(out, p)
	}
	return out
}

// Texts returns the files of a version in force or in the history.
func (l *Rules) Texts(version string) (rulefile.Files, bool) {
	if now := l.now.Load(); now.set.Version == version {
		return now.files, true
	}
	e, ok := l.past.Find(version)
	return e.Files, ok
}

// Before returns the version that Rollback of "" restores; not ok: there is none.
func (l *Rules) Before() (version string, ok bool) {
	e, ok := l.past.Before(l.Set().Version)
	return e.Version, ok
}

// absolute returns the path of a folder for people elsewhere.
func absolute(dir string) string {
	if dir == "" {
		return ""
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// Of returns the rule set of a version in force or in the history; nil: there is none, or it no longer
// loads.
func (l *Rules) Of(version string) *ruleset.Set {
	if set := l.Set(); set.Version == version {
		return set
	}
	e, ok := l.past.Find(version)
	if !ok {
		return nil
	}
	set, _ := l.loader.Load(e.Files)
	return set
}

// Hits counts how often rules had a part in something since the program started.
type Hits struct {
	Since time.Time  `json:"since"`
	Rules []RuleHits `json:"rules"` // in force, in the order of the files
	Gone  float64    `json:"gone"`  // hits of rules that are no longer in force
}

// RuleHits counts the replies and calls in which a rule had a part. Lines of a file with one name, such as
// the names of a tool, are counted together.
type RuleHits struct {
	ID     string   `json:"rule"`
	File   string   `json:"file"`
	Places []string `json:"places"` // file:line
	Hits   float64  `json:"hits"`
}

// Hits reads the counters of rule_hits_total.
func (l *Rules) Hits() Hits {
	out := Hits{Since: l.started, Rules: []RuleHits{}}
	at := map[[2]string]int{}
	for _, r := range l.Set().Rules() {
		key := [2]string{r.File, r.ID}
		i, known := at[key]
		if !known {
			i = len(out.Rules)
			at[key] = i
			out.Rules = append(out.Rules, RuleHits{ID: r.ID, File: r.File})
		}
		out.Rules[i].Places = append(out.Rules[i].Places, r.Place)
	}
	l.metrics.EachHit(func(file, rule string, n float64) {
		if i, known := at[[2]string{file, rule}]; known {
			out.Rules[i].Hits += n
		} else {
			out.Gone += n
		}
	})
	return out
}

// codeRestart is the code of an edit that needs a restart.
const codeRestart = "W-restart"

// readAtStart is part of the doc of keys that are read at start only.
const readAtStart = "Read at start only."

// restartWarnings returns warnings of changed limits that a process reads at start only.
func restartWarnings(l, began *ruleset.Limits) (out rulefile.Problems) {
	is, was := reflect.ValueOf(l).Elem(), reflect.ValueOf(began).Elem()
	for _, section := range rulefile.Keys(is.Type()) {
		if section.Type.Kind() != reflect.Struct {
			continue
		}
		is, was := is.FieldByIndex(section.Index), was.FieldByIndex(section.Index)
		all := strings.Contains(section.Tag.Get("doc"), readAtStart)
		for _, f := range rulefile.Keys(section.Type) {
			if (all || strings.Contains(f.Tag.Get("doc"), readAtStart)) &&
				!is.FieldByIndex(f.Index).Equal(was.FieldByIndex(f.Index)) {
				in, _ := rulefile.KeyOf(section)
				key, _ := rulefile.KeyOf(f)
				out = append(out, rulefile.Problem{File: "limits.yaml", Code: codeRestart,
					Msg:  in + "." + key + " is read at start only",
					Hint: "restart the server; until then the value is the one before", Warning: true})
			}
		}
	}
	return out
}
