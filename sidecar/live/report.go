package live

import (
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Report is what is told about the rules in force.
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

// ReportedFile is one file of it.
type ReportedFile struct {
	Name   string  `json:"name"`
	From   string  `json:"from"`   // folder, program, policy
	SHA256 string  `json:"sha256"` // the first 12 hex digits
	Bytes  int     `json:"bytes"`
	Text   *string `json:"text,omitempty"` // where texts are asked for
}

// lastGoodSource is the source of rules that do not stand where they should.
const lastGoodSource = "last_good"

// Report tells what is in force, with the texts of the files or without. It never
// asks the model server.
func (l *Rules) Report(texts bool) Report {
	now := l.now.Load()
	r := Report{
		Version: now.set.Version, Since: now.since, Age: time.Since(now.since).Seconds(), By: now.from.by,
		Who: now.from.who, Source: rulefile.FromFolder,
		Folder: absolute(l.src.Dir), Policy: absolute(l.src.Policy), Files: []ReportedFile{},
		Counts:   now.set.Counts,
		Warnings: listed(now.warnings), Taken: listed(now.set.Taken), Refused: now.refused,
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

// Past is one entry of the history.
type Past struct {
	Version string           `json:"version"`
	At      time.Time        `json:"at"`
	By      string           `json:"by"`
	Who     string           `json:"who,omitempty"`
	Counts  ruleset.Counts   `json:"counts"`
	Taken   []rulefile.Taken `json:"taken_away,omitempty"`
	InForce bool             `json:"in_force"`
	Changed []string         `json:"changed"` // files that differ from the entry before
}

// History tells which sets came into force, newest first.
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

// Texts are the files of a version that is in force, or that the history holds.
func (l *Rules) Texts(version string) (rulefile.Files, bool) {
	if now := l.now.Load(); now.set.Version == version {
		return now.files, true
	}
	e, ok := l.past.Find(version)
	return e.Files, ok
}

// Before is the version that Rollback of "" brings back; not ok where there is none.
func (l *Rules) Before() (version string, ok bool) {
	e, ok := l.past.Before(l.Set().Version)
	return e.Version, ok
}

// absolute is the name of a folder for people in other folders.
func absolute(dir string) string {
	if dir == "" {
		return ""
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// Of is the rule set of a version, if it is in force or remembered; nil: it is not, or does not load
// any more.
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
