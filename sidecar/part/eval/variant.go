package eval

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

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
