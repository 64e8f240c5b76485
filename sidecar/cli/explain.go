package cli

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func explainCommand(env Env) *cobra.Command {
	var x explainFlags
	var call callFlags
	lines := false
	c := &cobra.Command{
		Use:  "explain [FILE]",
		Args: Arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case call.given() && len(args) > 0:
				return errors.New("--command, --path, --url and --arguments stand in place of a reply: leave out the file")
			case call.given():
				return call.explain(&x, env)
			case len(x.dirs) == 2 && lines:
				return errors.New("--jsonl takes one --rules; for two of them there is: gpt-oss-executor eval OLD NEW FILE")
			}
			sets, err := x.sets(env)
			if err != nil {
				return err
			}
			if lines {
				return x.lines(sets[0], args, env)
			}
			return x.reply(sets, args, env)
		},
	}
	c.Flags().BoolVar(&lines, "jsonl", false, "read one record on each line, write one answer on each line")
	c.Flags().StringVar(&x.profile, "profile", "", "`PROFILE` of strategies.yaml")
	call.flags(c, "in place of a reply: ")
	x.flags(c, env)
	Modes(c, append(callModes(), "jsonl: profile rules policy", ": profile json rules policy")...)
	return c
}

// explainFlags holds the flags of explain and policy explain.
type explainFlags struct {
	dirs    []string
	policy  string
	profile string
	json    bool
}

func (x *explainFlags) flags(c *cobra.Command, env Env) {
	JSONFlag(c, &x.json, "one document")
	c.Flags().StringArrayVar(&x.dirs, "rules", nil,
		"folder `DIR` of rules, or builtin; given twice, the two are compared (without it: "+
			config.Prefix+"RULES, or else the built-in rules)")
	PolicyFlag(c, env, &x.policy)
}

// sets loads the rules: one set, or two to compare.
func (x *explainFlags) sets(env Env) (sets []*ruleset.Set, err error) {
	if len(x.dirs) == 0 {
		dir, _ := env.ruleSettings()
		x.dirs = []string{dir}
	}
	if len(x.dirs) > 2 {
		return nil, errors.New("--rules can be given twice, not more often")
	}
	for _, dir := range x.dirs {
		set, err := loadProfile(dir, x.policy, x.profile, env)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// world returns the surroundings in which calls are judged.
func (x *explainFlags) world(env Env) guard.World {
	return env.World(append([]string{x.policy}, x.dirs...)...)
}

// lines answers each record on its own line; a bad record does not stop the rest.
func (x *explainFlags) lines(set *ruleset.Set, args []string, env Env) error {
	world := x.world(env)
	return answerLines(args, env, func(l jsontext.Line) (any, json.RawMessage, error) {
		rec, err := parseRecord(l)
		if err != nil {
			return nil, rec.ID, err
		}
		e, err := replay.Explain(set, world, x.profile, rec)
		return e, rec.ID, err
	})
}

// reply explains one reply for people.
func (x *explainFlags) reply(sets []*ruleset.Set, args []string, env Env) error {
	doc, err := readDocument(args, env)
	if err != nil {
		return err
	}
	if replay.IsRequest(doc) {
		return show(x, sets, env, editRows,
			func(set *ruleset.Set) (*replay.EditedRequest, error) { return replay.ExplainRequest(set, doc) })
	}
	rec, err := replay.ParseRecord(doc)
	if err != nil {
		return err
	}
	return show(x, sets, env, treeRows, func(set *ruleset.Set) (*replay.Tree, error) {
		return replay.ExplainTree(set, x.world(env), x.profile, rec)
	})
}

// show prints the tree of one set, or the difference between two, as text or JSON.
func show[T any](x *explainFlags, sets []*ruleset.Set, env Env, lines func(*T) []Row,
	explain func(*ruleset.Set) (*T, error)) error {
	var trees []*T
	for _, set := range sets {
		tree, err := explain(set)
		if err != nil {
			return err
		}
		trees = append(trees, tree)
	}
	p := env.Printer(x.json)
	if len(trees) == 1 {
		return p.Document(trees[0], lines(trees[0]))
	}
	return p.Document(trees, difference(RulesName(x.dirs[0]), RulesName(x.dirs[1]), lines(trees[0]),
		lines(trees[1])))
}
