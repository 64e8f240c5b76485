package live

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Edited is the result of an edit.
type Edited struct {
	Version  string            `json:"version"`
	Changed  bool              `json:"changed"` // false: these rules were in force, or it was a dry run
	Warnings rulefile.Problems `json:"warnings"`
	Taken    []rulefile.Taken  `json:"taken_away,omitempty"`
}

// Seen holds the versions that the author of an edit has seen; others must not be overwritten. Any: all
// versions.
type Seen struct {
	Who      string // for log and history; empty: unknown
	Any      bool
	Versions []string
}

func (s Seen) has(version string) bool { return s.Any || slices.Contains(s.Versions, version) }

// ErrBuiltin means that the rules are built in and cannot be edited.
var ErrBuiltin = errors.New("these rules are built into the program and are not in a folder")

// ErrNoVersion means that the history lacks the version.
var ErrNoVersion = errors.New("the history has no such version")

// Stale rejects an edit whose author has not seen what it would overwrite.
type Stale struct {
	InForce string // version in force
	OnDisk  string // version in the folder; empty: it cannot be read
}

func (s *Stale) Error() string {
	switch s.OnDisk {
	case s.InForce:
		return fmt.Sprintf("other rules are in force: %s", s.InForce)
	case "":
		return fmt.Sprintf("%s is in force, and the folder cannot be read", s.InForce)
	}
	return fmt.Sprintf("%s is in force, and %s is in the folder", s.InForce, s.OnDisk)
}

// Unwritten means that the folder could not be written. Nothing has changed.
type Unwritten struct{ error }

// Try compiles files as the operator's folder, with the program's and the locked ones, and changes nothing.
// The error may be Problems.
func (l *Rules) Try(own rulefile.Files) (*ruleset.Set, rulefile.Problems, error) {
	whole, err := l.src.Whole(own)
	if err != nil {
		return nil, nil, err
	}
	set, problems := l.loader.Load(whole)
	if set == nil {
		return nil, nil, problems
	}
	return set, problems, nil
}

// Test runs the tests of files as the operator's folder, with the program's and the locked ones, and
// changes nothing. The report is nil if they do not load.
func (l *Rules) Test(own rulefile.Files) (*ruleset.Report, rulefile.Problems, error) {
	whole, err := l.src.Whole(own)
	if err != nil {
		return nil, nil, err
	}
	report, problems := l.loader.Test(whole, func(string) bool { return true })
	return report, problems, nil
}

// Dry is Put without any change. It ignores seen if that has no versions.
func (l *Rules) Dry(own rulefile.Files, seen Seen) (Edited, error) {
	if err := l.checkSeen(seen); err != nil && len(seen.Versions) > 0 {
		return Edited{}, err
	}
	if l.src.Dir == "" {
		return Edited{}, ErrBuiltin
	}
	set, warnings, err := l.Try(own)
	if err != nil {
		return Edited{}, err
	}
	return Edited{Version: set.Version, Warnings: nonNil(warnings), Taken: set.Taken}, nil
}

// Put makes files the operator's folder, on disk and in force, or changes nothing. The error is ErrBuiltin,
// *Stale, Problems or *Unwritten.
func (l *Rules) Put(own rulefile.Files, seen Seen) (Edited, error) {
	l.change.Lock()
	defer l.change.Unlock()
	return l.edit(own, seen, byPut)
}

// Promotion returns the operator's files in which an arm of an experiment is the rule for all, given the
// files in force.
type Promotion func(ruleset.Loader, rulefile.Files) (rulefile.Files, error)

// Promoted applies a promotion to the rules in force.
func (l *Rules) Promoted(p Promotion) (rulefile.Files, error) { return p(l.loader, l.now.Load().files) }

// Promote puts what Promoted returns. Its errors are those of Put and Promoted.
func (l *Rules) Promote(p Promotion, seen Seen) (Edited, error) {
	l.change.Lock()
	defer l.change.Unlock()
	own, err := l.Promoted(p)
	if err != nil {
		return Edited{}, err
	}
	return l.edit(own, seen, ByPromote)
}

// Merge puts the files in force with changes; nil removes a file. Its errors are those of Put.
func (l *Rules) Merge(some map[string]*string, seen Seen) (Edited, error) {
	l.change.Lock()
	defer l.change.Unlock()
	return l.edit(l.Merged(some), seen, byPut)
}

// Merged returns the operator's files in force with changes; nil removes a file.
func (l *Rules) Merged(some map[string]*string) rulefile.Files {
	own := l.now.Load().files.Own()
	for name, text := range some {
		if delete(own, name); text != nil {
			own[name] = *text
		}
	}
	return own
}

// Rollback is Put of the operator's files of an earlier version; "": the previous one. The program's files
// and the locked folder stay as they are, so the version may differ. Errors are ErrNoVersion and those of
// Put.
func (l *Rules) Rollback(version string, seen Seen) (Edited, error) {
	l.change.Lock()
	defer l.change.Unlock()
	e, ok := l.past.Find(version)
	if version == "" {
		e, ok = l.past.Before(l.now.Load().set.Version)
	}
	if !ok {
		return Edited{}, ErrNoVersion
	}
	return l.edit(e.Files.Own(), seen, byRollback)
}

// edit writes the operator's folder and puts it in force. l.change is held.
func (l *Rules) edit(own rulefile.Files, seen Seen, by string) (Edited, error) {
	if l.src.Dir == "" {
		return Edited{}, ErrBuiltin
	}
	if err := l.checkSeen(seen); err != nil {
		return Edited{}, err
	}
	before := l.Set().Version
	files, err := l.src.Whole(own)
	if err := l.apply(files, err, origin{by, seen.Who},
		func() error { return l.write(own, seen) }); err != nil {
		return Edited{}, err
	}
	now := l.now.Load()
	return Edited{now.set.Version, now.set.Version != before, nonNil(now.warnings), now.set.Taken}, nil
}

// checkSeen returns what an edit would overwrite that its author has not seen.
func (l *Rules) checkSeen(seen Seen) error {
	stale := &Stale{InForce: l.Set().Version}
	if files, err := l.src.Read(); err == nil {
		stale.OnDisk = files.Version()
	}
	if seen.has(stale.InForce) && seen.has(stale.OnDisk) {
		return nil
	}
	return stale
}

// write writes the operator's folder, unless it is unchanged. Another process may have written it since the
// edit began.
func (l *Rules) write(own rulefile.Files, seen Seen) error {
	if files, err := rulefile.ReadDir(l.src.Dir); err == nil && len(files.Differ(own)) == 0 {
		return nil
	}
	if err := l.checkSeen(seen); err != nil {
		return err
	}
	change, err := ReplaceFiles(l.src.Dir, own, "")
	if err != nil {
		return &Unwritten{err}
	}
	if err := change.Keep(); err != nil {
		l.log.Warn("the folder is written, but its old files were not kept", "event", "rules_previous",
			"detail", err.Error())
	}
	return nil
}

// nonNil returns a list that is never null in JSON.
func nonNil[T any, L ~[]T](list L) L {
	if list == nil {
		return L{}
	}
	return list
}
