package live

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Edited is what became of an edit.
type Edited struct {
	Version  string            `json:"version"`
	Changed  bool              `json:"changed"` // false: these rules were in force, or it was a dry run
	Warnings rulefile.Problems `json:"warnings"`
	Taken    []rulefile.Taken  `json:"taken_away,omitempty"`
}

// Seen is the versions that the author of an edit has seen. An edit must not overwrite others. Any sees
// everything.
type Seen struct {
	Who      string // that is, for log and history; empty: unknown
	Any      bool
	Versions []string
}

func (s Seen) has(version string) bool { return s.Any || slices.Contains(s.Versions, version) }

// ErrBuiltin says that the rules cannot be edited: they are those of the program.
var ErrBuiltin = errors.New("these rules are built into the program and are not in a folder")

// ErrNoVersion says that the history does not hold what is asked for.
var ErrNoVersion = errors.New("the history has no such version")

// Stale is an edit by someone who has not seen what they would overwrite.
type Stale struct {
	InForce string // version that is in force
	OnDisk  string // version that stands in the folder; empty: it cannot be read
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

// Unwritten is a folder that could not be written. Nothing has changed.
type Unwritten struct{ error }

// Try compiles files as the operator's folder, beside the program's and the locked
// ones, and changes nothing. The error may be Problems.
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

// Test runs every test of files as the operator's folder, beside the program's and the locked
// ones, and changes nothing. The report is nil where they do not load.
func (l *Rules) Test(own rulefile.Files) (*ruleset.Report, rulefile.Problems, error) {
	whole, err := l.src.Whole(own)
	if err != nil {
		return nil, nil, err
	}
	report, problems := l.loader.Test(whole, func(string) bool { return true })
	return report, problems, nil
}

// Dry is Put that stops before anything is changed, and is not kept as refused.
// Versions that were seen count where there are some.
func (l *Rules) Dry(own rulefile.Files, seen Seen) (Edited, error) {
	if err := l.unseen(seen); err != nil && len(seen.Versions) > 0 {
		return Edited{}, err
	}
	if l.src.Dir == "" {
		return Edited{}, ErrBuiltin
	}
	set, warnings, err := l.Try(own)
	if err != nil {
		return Edited{}, err
	}
	return Edited{Version: set.Version, Warnings: listed(warnings), Taken: set.Taken}, nil
}

// Put makes files the operator's folder, on disk and in force, or changes nothing.
// The error is ErrBuiltin, *Stale, Problems or *Unwritten.
func (l *Rules) Put(own rulefile.Files, seen Seen) (Edited, error) {
	l.change.Lock()
	defer l.change.Unlock()
	return l.edit(own, seen, byPut)
}

// Promotion gives the operator's files in which an arm of an experiment is the rule for everybody, of all
// files that count.
type Promotion func(ruleset.Loader, rulefile.Files) (rulefile.Files, error)

// Promoted are these files, for the rules in force.
func (l *Rules) Promoted(p Promotion) (rulefile.Files, error) { return p(l.loader, l.now.Load().files) }

// Promote is Put of Promoted.
func (l *Rules) Promote(p Promotion, seen Seen) (Edited, error) {
	l.change.Lock()
	defer l.change.Unlock()
	own, err := l.Promoted(p)
	if err != nil {
		return Edited{}, err
	}
	return l.edit(own, seen, ByPromote)
}

// Merge is Put of the operator's files that are in force, with changes over them;
// nil removes one.
func (l *Rules) Merge(some map[string]*string, seen Seen) (Edited, error) {
	l.change.Lock()
	defer l.change.Unlock()
	return l.edit(l.Merged(some), seen, byPut)
}

// Merged are the files of the operator's folder that are in force, with changes;
// nil removes one.
func (l *Rules) Merged(some map[string]*string) rulefile.Files {
	own := l.now.Load().files.Own()
	for name, text := range some {
		if delete(own, name); text != nil {
			own[name] = *text
		}
	}
	return own
}

// Rollback puts the files of an earlier version back, on disk and in force; "" is
// the one before. What the program ships and the locked folder stay as they are
// now, so the version may come out as another one. Errors are ErrNoVersion and
// those of Put.
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
	if err := l.unseen(seen); err != nil {
		return Edited{}, err
	}
	before := l.Set().Version
	files, err := l.src.Whole(own)
	if err := l.take(files, err, origin{by, seen.Who},
		func() error { return l.write(own, seen) }); err != nil {
		return Edited{}, err
	}
	now := l.now.Load()
	return Edited{now.set.Version, now.set.Version != before, listed(now.warnings), now.set.Taken}, nil
}

// unseen says what an edit would overwrite that its author has not seen.
func (l *Rules) unseen(seen Seen) error {
	stale := &Stale{InForce: l.Set().Version}
	if files, err := l.src.Read(); err == nil {
		stale.OnDisk = files.Version()
	}
	if seen.has(stale.InForce) && seen.has(stale.OnDisk) {
		return nil
	}
	return stale
}

// write puts the operator's folder on disk, unless that is what stands there. Since the edit began, another
// process may have written what its author has not seen.
func (l *Rules) write(own rulefile.Files, seen Seen) error {
	if files, err := rulefile.ReadDir(l.src.Dir); err == nil && len(files.Differ(own)) == 0 {
		return nil
	}
	if err := l.unseen(seen); err != nil {
		return err
	}
	change, err := Folder(l.src.Dir, own, "")
	if err != nil {
		return &Unwritten{err}
	}
	if err := change.Keep(); err != nil {
		l.log.Warn("the folder is written, but its old files were not kept", "event", "rules_previous",
			"detail", err.Error())
	}
	return nil
}

// listed is a list that is never null in JSON.
func listed[T any, L ~[]T](list L) L {
	if list == nil {
		return L{}
	}
	return list
}
