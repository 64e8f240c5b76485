// Package ruletest gives tests rules to work with: the shipped ones, folders of them,
// edits; and a log that can be read. Only tests may import it.
package ruletest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Must ends the test on an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Soon waits until something is true, two minutes at most.
func Soon(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 12000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not soon: %s", what)
}

// Source is a folder of rules over those that the program ships; "" is none.
func Source(t testing.TB, dir string) rulefile.Source {
	t.Helper()
	builtin, err := rulefile.Builtin(os.DirFS(testkit.Root()))
	Must(t, err)
	return Loader().Source(dir, "", builtin)
}

// Copy writes the shipped rules into a folder, as init does.
func Copy(t testing.TB, dir string) {
	t.Helper()
	Must(t, os.CopyFS(dir, os.DirFS(filepath.Join(testkit.Root(), "rules"))))
}

// Edit changes one place of a rule file.
func Edit(t testing.TB, dir, file, from, to string) {
	t.Helper()
	path := filepath.Join(dir, file)
	text, err := os.ReadFile(path)
	Must(t, err)
	Must(t, os.WriteFile(path, []byte(testkit.Replace(t, string(text), from, to, 1)), 0o644))
}

// Broken is files with a mistake in models.yaml.
func Broken(t testing.TB, files rulefile.Files) rulefile.Files {
	files["models.yaml"] = testkit.Replace(t, files["models.yaml"], "mode: provider", "mode: provder", 1)
	return files
}

// Changed is files with a comment more in aliases.yaml.
func Changed(t testing.TB, files rulefile.Files, comment string) rulefile.Files {
	files["aliases.yaml"] = testkit.Replace(t, files["aliases.yaml"], "version: 1",
		"version: 1\n# "+comment, 1)
	return files
}

// tried is what all loads of a package have compiled and tried, whatever sections they have.
var tried = ruleset.NewCompiled(0)

// Loader compiles rules with some sections of parts. All others may say anything. It gives a set of its own
// each time, and tries and compiles again only what differs from the loads before.
func Loader(sections ...ruleset.Section) ruleset.Loader {
	for _, part := range built.Parts() {
		for _, name := range append(built.Brings(part, built.RuleFile), built.Brings(part, built.Limit)...) {
			if !slices.ContainsFunc(sections, func(s ruleset.Section) bool { return s.Name == name }) {
				sections = append(sections, ruleset.Section{Name: name, Holds: new(any)})
			}
		}
	}
	return ruleset.Loader{Sections: sections, Compiled: tried}
}

// compiled is what Shared loaders compiled, for each choice of sections.
var compiled sync.Map

// Shared is a loader that compiles the same files once for all tests of a package. None may change a set.
func Shared(l ruleset.Loader) ruleset.Loader {
	kept, _ := compiled.LoadOrStore(names(l.Sections), ruleset.NewCompiled(8))
	l.Compiled = kept.(*ruleset.Compiled)
	return l
}

// names are those of sections, and of what holds them.
func names(sections []ruleset.Section) (all string) {
	for _, s := range sections {
		all += fmt.Sprintf("%s %T ", s.Name, s.Holds)
	}
	return all
}

// Load compiles the shipped rules with some files changed, and what parts read of them.
func Load(t testing.TB, changed rulefile.Files,
	sections ...ruleset.Section) (*ruleset.Set, rulefile.Problems) {
	t.Helper()
	files, err := Source(t, "").Read()
	Must(t, err)
	maps.Copy(files, changed)
	return Loader(sections...).Load(files)
}

// shipped compiles the shipped rules once for each choice of sections.
var shipped sync.Map

// Shipped is the set of the shipped rules, with what parts read of them: a copy that a test may change on
// top, and in its sections.
func Shipped(t testing.TB, sections ...ruleset.Section) *ruleset.Set {
	t.Helper()
	once, _ := shipped.LoadOrStore(names(sections), sync.OnceValue(func() *ruleset.Set {
		set, problems := Load(t, nil, sections...)
		if set == nil {
			t.Fatal(problems)
		}
		return set
	}))
	set := *once.(func() *ruleset.Set)()
	set.Sections = slices.Clone(set.Sections)
	for i, section := range set.Sections {
		own := reflect.New(reflect.TypeOf(section).Elem())
		own.Elem().Set(reflect.ValueOf(section).Elem())
		set.Sections[i] = own.Interface()
	}
	return &set
}

// Journal is a log that several goroutines write and a test reads.
type Journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *Journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

// Lines are those of an event.
func (j *Journal) Lines(event string) (lines []string) {
	for line := range strings.Lines(j.String()) {
		if strings.Contains(line, "event="+event+" ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// Count counts the lines of an event.
func (j *Journal) Count(event string) int { return len(j.Lines(event)) }
