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

// ruleSettings returns the folders of rules and of the locked policy in the environment.
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

// RulesFlag adds the flag for a folder of rules. Its default is the folder that serve would use: the one in
// the environment, or else the built-in rules.
func RulesFlag(c *cobra.Command, env Env, dir *string) {
	named, _ := env.ruleSettings()
	c.Flags().StringVar(dir, rulesFlag, named, "folder `DIR` of rules, or builtin (without it: "+config.Prefix+
		"RULES, or else the built-in rules)")
}

// PolicyFlag adds the flag for the locked folder.
func PolicyFlag(c *cobra.Command, env Env, dir *string) {
	_, named := env.ruleSettings()
	c.Flags().StringVar(dir, "policy", named, "locked folder `DIR` of the security team (without it: "+
		config.Prefix+"POLICY)")
}

// rulesFolder returns the folder of rules in the argument DIR, or else the default of RulesFlag. named
// describes the choice and the locked folder.
func (e Env) rulesFolder(args []string, policy string) (dir, named string) {
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

// announce prints first which rules a command uses.
func (e Env) announce(named string) { fmt.Fprintf(e.Err, "rules: %s\n", named) }

// notEmpty refuses an empty argument, which usually comes from an unset variable.
func notEmpty(_ *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return errors.New("the name of the folder is empty; is a variable not set?")
	}
	return nil
}

// holdsRules reports whether a folder has rule files.
func (e Env) holdsRules(dir string) bool {
	return slices.ContainsFunc(e.Loader().FileNames(), func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// refuseAmbiguous refuses to check the built-in rules by default if the current folder has rule files,
// which the user may mean.
func (e Env) refuseAmbiguous(c *cobra.Command, dir string, args []string) error {
	if dir != "" || len(args) > 0 || !e.holdsRules(".") {
		return nil
	}
	return Misused(c, fmt.Errorf("which rules? There are rule files here, and no folder is named. Say one of these:\n"+
		"  %[1]s .          for the files here\n  %[1]s builtin    for the built-in rules", c.CommandPath()))
}

// RuleSource returns the source of a folder of rules, beneath a locked one, over the built-in rules. Each
// folder may be "".
func RuleSource(dir, policy string, env Env) (rulefile.Source, error) {
	if dir == service.BuiltinRules {
		dir = ""
	}
	builtin, err := rulefile.Builtin(env.Defaults)
	return env.Loader().Source(dir, policy, builtin), err
}

func ReadRules(dir, policy string, env Env) (rulefile.Source, rulefile.Files, error) {
	src, err := RuleSource(dir, policy, env)
	if err != nil {
		return src, nil, err
	}
	files, err := src.Read()
	return src, files, err
}

// LoadRules compiles the rules of RuleSource, and prints their problems.
func LoadRules(dir, policy string, env Env) (*ruleset.Set, error) {
	src, err := RuleSource(dir, policy, env)
	if err != nil {
		return nil, err
	}
	return LoadFrom(src, env)
}

// World returns the surroundings in which calls are judged. The named folders belong to the guard; so do
// the folders and addresses that the environment names for a server here.
func (e Env) World(folders ...string) guard.World {
	s := config.Settings{Parts: e.partSettings()}
	if err := s.Override(e.Environ); err != nil { // a server with a wrong setting does not start
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
		return nil, ErrReported
	}
	return set, nil
}

// loadProfile is LoadRules for rules that must have a profile; "" is the default one.
func loadProfile(dir, policy, profile string, env Env) (*ruleset.Set, error) {
	set, err := LoadRules(dir, policy, env)
	if err == nil && profile != "" && !slices.Contains(set.Profiles(), profile) {
		err = fmt.Errorf("no profile %q in strategies.yaml of %s; there are %s", profile, RulesName(dir),
			strings.Join(set.Profiles(), ", "))
	}
	return set, err
}

// Edit writes one rule file atomically, since the folder may be watched, if the rules load with it. name is
// separated by slashes.
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

// RulesName names a folder of rules for people.
func RulesName(dir string) string {
	if dir == "" || dir == service.BuiltinRules {
		return "the built-in rules"
	}
	return dir
}
