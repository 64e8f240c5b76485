package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// ruleSettings are the settings of serve that name folders of rules: rules and policy.
func (e Env) ruleSettings() (dir, policy string) {
	dir, _ = e.Lookup(config.Prefix + "RULES")
	policy, _ = e.Lookup(config.Prefix + "POLICY")
	for _, path := range []*string{&dir, &policy} {
		if whole, err := config.Home(*path); err == nil {
			*path = whole
		}
	}
	return dir, policy
}

// rulesFlag is the name of the flag for a folder of rules.
const rulesFlag = "rules"

// RulesFlag is the flag for a folder of rules. Without it a command uses the rules that serve
// would use: those that the environment names, or else the built-in ones.
func RulesFlag(c *cobra.Command, env Env, dir *string) {
	named, _ := env.ruleSettings()
	c.Flags().StringVar(dir, rulesFlag, named, "folder `DIR` of rules, or builtin (without it: "+config.Prefix+
		"RULES, or else the built-in rules)")
}

// PolicyFlag is the flag for the locked folder.
func PolicyFlag(c *cobra.Command, env Env, dir *string) {
	_, named := env.ruleSettings()
	c.Flags().StringVar(dir, "policy", named, "locked folder `DIR` of the security team (without it: "+
		config.Prefix+"POLICY)")
}

// meant is the folder of rules that the argument DIR names. Without it, it is the one that
// rulesFlag would give. Named says which one that is, and which locked folder lies over it.
func (e Env) meant(args []string, policy string) (dir, named string) {
	dir, _ = e.ruleSettings()
	switch {
	case len(args) > 0:
		dir = args[0]
		named = RulesName(dir)
	case dir != "":
		named = dir + ", which " + config.Prefix + "RULES names"
	default:
		named = RulesName("") + ", as no folder is named"
		if e.holdsRules("rules") {
			named += "; to look at the folder here, say rules"
		}
	}
	if policy != "" {
		named += ", beneath " + policy
	}
	return dir, named
}

// announce says first of all which rules a command looks at.
func (e Env) announce(named string) { fmt.Fprintf(e.Err, "rules: %s\n", named) }

// notEmpty is for arguments that name a folder or a file: an empty one comes from a variable
// that is not set.
func notEmpty(_ *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return errors.New("the name of the folder is empty; is a variable not set?")
	}
	return nil
}

// holdsRules reports whether rule files stand in a folder.
func (e Env) holdsRules(dir string) bool {
	return slices.ContainsFunc(e.Loader().FileNames(), func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// unsure refuses a command that would check the built-in rules, where the user may mean those in the current
// folder.
func (e Env) unsure(c *cobra.Command, dir string, args []string) error {
	if dir != "" || len(args) > 0 || !e.holdsRules(".") {
		return nil
	}
	return Misused(c, fmt.Errorf("which rules? There are rule files here, and no folder is named. Say one of these:\n"+
		"  %[1]s .          for the files here\n  %[1]s builtin    for the built-in rules", c.CommandPath()))
}

// RulesIn is a folder of rules over those of the program, with the locked one
// beside it. Each may be "".
func RulesIn(dir, policy string, env Env) (rulefile.Source, error) {
	if dir == service.BuiltinRules {
		dir = ""
	}
	builtin, err := rulefile.Builtin(env.Defaults)
	return env.Loader().Source(dir, policy, builtin), err
}

// ReadRules reads them.
func ReadRules(dir, policy string, env Env) (rulefile.Source, rulefile.Files, error) {
	src, err := RulesIn(dir, policy, env)
	if err != nil {
		return src, nil, err
	}
	files, err := src.Read()
	return src, files, err
}

// LoadRules compiles the rules in a folder beneath a locked one, and prints what is wrong with
// them.
func LoadRules(dir, policy string, env Env) (*ruleset.Set, error) {
	src, err := RulesIn(dir, policy, env)
	if err != nil {
		return nil, err
	}
	return LoadFrom(src, env)
}

// World is where calls are judged. The folders that were named are the guard's own, and so
// are those, and the addresses, that the environment names for a server on this machine.
func (e Env) World(folders ...string) guard.World {
	s := config.Settings{Parts: e.partSettings()}
	if err := s.Override(e.Environ); err != nil { // a server with a misspelt setting does not start
		s = config.Settings{}
	}
	if ws, err := service.WorkspaceOf(s.Workspace); err == nil {
		s.Workspace = ws
	}
	return service.World(s, folders...)
}

func LoadFrom(src rulefile.Source, env Env) (*ruleset.Set, error) {
	files, err := src.Read()
	if err != nil {
		return nil, err
	}
	load := env.Loader().Load
	if src.Dir == "" && src.Policy == "" {
		load = env.Loader().LoadShipped
	}
	set, problems := load(files)
	if len(problems) > 0 {
		fmt.Fprintln(env.Err, problems.In(src).Error())
	}
	if set == nil {
		return nil, ErrSaid
	}
	return set, nil
}

// loadProfile is loadRules of rules that must have a profile; "" is the default one.
func loadProfile(dir, policy, profile string, env Env) (*ruleset.Set, error) {
	set, err := LoadRules(dir, policy, env)
	if err == nil && profile != "" && !slices.Contains(set.Profiles(), profile) {
		err = fmt.Errorf("no profile %q in strategies.yaml of %s; there are %s", profile, RulesName(dir),
			strings.Join(set.Profiles(), ", "))
	}
	return set, err
}

// Edit writes one file of a folder of rules, whole, if the rules load with it: the folder may
// be watched. name has slashes.
func Edit(src rulefile.Source, env Env, name, text string) error {
	files, err := src.Read()
	if err != nil {
		return err
	}
	files[name] = text
	if set, problems := env.Loader().Load(files); set == nil {
		return fmt.Errorf("the rules do not load with this %s, so nothing was written:\n%w", name,
			problems.In(src))
	}
	path := filepath.Join(src.Dir, filepath.FromSlash(name))
	err = atomicfile.Replace(path, []byte(text))
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = atomicfile.Write(path, []byte(text), 0o644)
		}
	}
	if err != nil {
		return fmt.Errorf("write rules: %w", err)
	}
	return nil
}

// RulesName is what people call a folder of rules.
func RulesName(dir string) string {
	if dir == "" || dir == service.BuiltinRules {
		return "the built-in rules"
	}
	return dir
}
