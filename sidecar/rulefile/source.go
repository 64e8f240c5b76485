package rulefile

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Source is where rules come from.
type Source struct {
	Dir     string // the operator's folder; empty: the program's own rules
	Policy  string // the locked folder of the security team; empty: none
	Builtin Files  // the program's own files
	// files of the program that stay in force under a locked folder, whatever the operator changes
	Floor []string
	Names []string // of rule files; the program's own replaces a missing one
}

// Builtin reads the program's own folders rules and prompts.
func Builtin(program fs.FS) (Files, error) {
	rules, err := fs.Sub(program, "rules")
	if err != nil {
		return nil, fmt.Errorf("read the built-in rules: %w", err)
	}
	files, err := ReadFS(rules)
	if err != nil {
		return nil, err
	}
	if _, err := files.read(program, PromptFolder); err != nil {
		return nil, fmt.Errorf("read the built-in rules: %w", err)
	}
	return files, nil
}

// Read reads all files: Whole of the operator's folder, or the program's own rules without one.
func (s Source) Read() (Files, error) {
	if s.Dir == "" {
		return s.withPolicy(maps.Clone(s.Builtin))
	}
	own, err := ReadDir(s.Dir)
	if err != nil {
		return nil, err
	}
	return s.Whole(own)
}

// Whole completes the files of an operator's folder, each of which replaces the program's own of that name.
// It adds, below builtin/, the program's own files that they name, those about programs and agents, and
// prompts that the folder lacks, and the locked folder as it is now.
func (s Source) Whole(own Files) (Files, error) {
	all := maps.Clone(own)
	for _, name := range s.Names {
		if !own.Has(name) {
			all[name] = MissingFile(name)
		}
	}
	return s.withPolicy(all.withBuiltin(s.Builtin))
}

// MissingFile stands for a file that a folder lacks. No file holds this text.
func MissingFile(name string) string {
	return "# The folder lacks this file.\nversion: 1\ninclude: [" + BuiltinFolder + "/" + name + "]\n"
}

// withPolicy adds the files of the locked folder, and what these need of the program: the files that they
// name, and its floor.
func (s Source) withPolicy(files Files) (Files, error) {
	if s.Policy == "" {
		return files, nil
	}
	locked, err := ReadDir(s.Policy)
	if err != nil {
		return nil, fmt.Errorf("locked folder: %w", err)
	}
	for name, text := range locked {
		files[PolicyFolder+"/"+name] = text
	}
	for name, text := range s.Builtin {
		isProgram := strings.HasPrefix(name, ProgramFolder+"/")
		if whole := BuiltinFolder + "/" + name; isProgram || slices.Contains(s.Floor, name) ||
			locked.mentions(whole) {
			files[whole] = text
		}
	}
	return files, nil
}

// Where files come from, as people read it.
const (
	FromFolder  = "folder"  // the operator's folder
	FromProgram = "program" // shipped with the program
	FromPolicy  = "policy"  // the locked folder
)

// lockedVersion returns the version of the locked folder, or why it cannot be read.
func (s Source) lockedVersion() string {
	if s.Policy == "" {
		return ""
	}
	files, err := ReadDir(s.Policy)
	if err != nil {
		return err.Error()
	}
	return files.Version()
}

// From returns where a file comes from.
func (s Source) From(name string) string {
	switch {
	case strings.HasPrefix(name, PolicyFolder+"/"):
		return FromPolicy
	case s.Dir == "" || strings.HasPrefix(name, BuiltinFolder+"/"):
		return FromProgram
	}
	return FromFolder
}

// withBuiltin adds the program's own files that these need.
func (f Files) withBuiltin(builtin Files) Files {
	out := maps.Clone(f)
	for name, text := range builtin {
		whole := BuiltinFolder + "/" + name
		isPrompt := strings.HasPrefix(name, PromptFolder+"/")
		if isPrompt && !f.Has(name) || strings.HasPrefix(name, ProgramFolder+"/") ||
			strings.HasPrefix(name, AgentFolder+"/") || strings.HasPrefix(name, FamilyFolder+"/") ||
			f.mentions(whole) {
			out[whole] = text
		}
	}
	return out
}

// mentions reports whether one of the files names another.
func (f Files) mentions(name string) bool {
	for _, text := range f {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// Folders returns the folders on disk that hold rule files.
func (s Source) Folders() (out []string) {
	for _, dir := range []string{s.Dir, s.Policy} {
		if dir == "" {
			continue
		}
		out = append(out, dir)
		for _, inside := range Folders() {
			out = append(out, filepath.Join(dir, inside))
		}
	}
	return out
}

// OnDisk returns the name of a rule file on disk, for problems.
func (s Source) OnDisk(name string) string {
	switch in, locked := strings.CutPrefix(name, PolicyFolder+"/"); {
	case locked:
		return path.Join(filepath.ToSlash(s.Policy), in)
	case strings.HasPrefix(name, BuiltinFolder+"/"):
		return name
	}
	return path.Join(filepath.ToSlash(s.Dir), name)
}
