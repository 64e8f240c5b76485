package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func explainCommand(env Env) *cobra.Command {
	var x explaining
	c := &cobra.Command{
		Use:   "explain [FILE]",
		Short: "Show step by step how a reply is read",
		Long: `Show step by step how a reply is read. FILE (or standard input) holds a reply as a
server sends it: a chat completion, a message, or plain text that the model wrote.
The answer is a tree: each strategy with its result and the line of its rule.

With --command, --path or --url it does what policy explain does: it shows the decision,
and every rule with each part of its condition.

If --rules is given twice, it shows what differs, marked as diff does; builtin means the
built-in rules.

With --jsonl each line is a record {"id", "message" or "chunks" or "input", "tools",
"finish_reason"?, "upstream_error"?}, and each answer is one line of JSON. "tools" holds
names or OpenAI tool objects; [] means that no tool was offered, null that the tools are
not known. Conditions see "model", "server" and "user".`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			sets, err := x.sets(env)
			if err != nil {
				return err
			}
			if x.call.given() {
				if len(args) > 0 || x.lines {
					return errors.New("--command, --path, --url and --arguments are used instead of a reply: leave out the file and --jsonl")
				}
				return x.call.explain(sets, &x, env)
			}
			if x.call.tool != "" {
				return errors.New("--tool goes with --command, --path, --url or --arguments")
			}
			in, err := openInput(args, env.In)
			if err != nil {
				return fmt.Errorf("explain: %w", err)
			}
			defer in.Close()
			if x.lines {
				return explainLines(sets[0], x.world(env), x.profile, in, env.Out)
			}
			return x.one(sets, in, env)
		},
	}
	c.Flags().BoolVar(&x.lines, "jsonl", false, "read one record on each line, write one answer on each line")
	c.Flags().BoolVar(&x.json, "json", false, "write the tree as JSON")
	c.Flags().StringVar(&x.profile, "profile", "", "profile of strategies.yaml")
	x.callFlags(c, "instead of a reply: ")
	return c
}

// callFlags are those about a call. Before is how what they do begins.
func (x *explaining) callFlags(c *cobra.Command, before string) {
	c.Flags().StringVar(&x.call.command, "command", "", before+"may this shell line run?")
	c.Flags().StringVar(&x.call.path, "path", "", before+"may this path be read?")
	c.Flags().StringVar(&x.call.url, "url", "", before+"may this address be fetched?")
	c.Flags().StringVar(&x.call.tool, "tool", "", "the tool of that call (default: exec, read or web_fetch)")
	c.Flags().StringVar(&x.call.arguments, "arguments", "", before+"may this --tool be called with these, a JSON object?")
	c.Flags().BoolVar(&x.all, "all", false, "for a call: also show the rules that do not hold")
	policyFlag(c, &x.policy)
	c.Flags().StringArrayVar(&x.dirs, "rules", nil, "folder of rule files; give it twice to compare (default: the built-in rules)")
}

// explaining is what explain was asked for.
type explaining struct {
	dirs        []string
	profile     string
	lines, json bool
	all         bool // rules that do not hold are shown, too
	policy      string
	call        aCall
}

// sets are the rules to read with: one set, or two to be compared.
func (x *explaining) sets(env Env) ([]*ruleset.Set, error) {
	if len(x.dirs) == 0 {
		x.dirs = []string{""}
	}
	switch {
	case x.json && x.lines:
		return nil, errors.New("--jsonl answers in JSON lines, --json with one tree: take one of them")
	case len(x.dirs) > 2:
		return nil, errors.New("--rules can be given twice, not more often")
	case len(x.dirs) == 2 && x.lines:
		return nil, errors.New("--jsonl takes one --rules; for two of them there is: gpt-oss-executor compare OLD NEW FILE")
	}
	sets := make([]*ruleset.Set, len(x.dirs))
	for i, dir := range x.dirs {
		set, err := loadUnder(x.policy, dir, env)
		if err == nil {
			err = hasProfile(set, dir, x.profile)
		}
		if err != nil {
			return nil, err
		}
		sets[i] = set
	}
	return sets, nil
}

// world is where calls are judged.
func (x *explaining) world(env Env) guard.World {
	return env.world(append([]string{x.policy}, x.dirs...)...)
}

// openInput opens the file that was named, or takes standard input.
func openInput(args []string, in io.Reader) (io.ReadCloser, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.NopCloser(in), nil
	}
	return os.Open(args[0])
}

// explainLines answers each record in its place; a bad one does not stop the rest.
func explainLines(set *ruleset.Set, world guard.World, profile string, in io.Reader, out io.Writer) error {
	return answerLines(in, out, func(l jsonLine) (any, json.RawMessage, error) {
		rec, err := l.record()
		if err != nil {
			return nil, rec.ID, err
		}
		e, err := replay.Explain(set, world, profile, rec)
		return e, rec.ID, err
	})
}

// one shows one reply to a person.
func (x *explaining) one(sets []*ruleset.Set, in io.Reader, env Env) error {
	doc, err := io.ReadAll(io.LimitReader(in, maxLine))
	if err != nil {
		return fmt.Errorf("explain: %w", err)
	}
	rec, err := anyReply(doc)
	if err != nil {
		return err
	}
	trees := make([]*replay.Tree, len(sets))
	for i, set := range sets {
		if trees[i], err = replay.ExplainTree(set, x.world(env), x.profile, rec); err != nil {
			return err
		}
	}
	return show(x, trees, treeRows, env)
}

// show writes one tree, or the difference of two, for people or as JSON.
func show[T any](x *explaining, trees []*T, lines func(*T) []row, env Env) error {
	w := bufio.NewWriter(env.Out)
	p := paper{out: w, colours: terminal.ColoursOf(env.Out, env.lookup)}
	var err error
	switch {
	case x.json:
		err = writeTrees(w, trees)
	case len(trees) == 2:
		p.difference(rulesName(x.dirs[0]), rulesName(x.dirs[1]), lines(trees[0]), lines(trees[1]))
	default:
		p.rows(lines(trees[0]))
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// writeTrees writes one tree, or a list of two.
func writeTrees[T any](w io.Writer, trees []*T) error {
	if len(trees) == 1 {
		return writeJSON(w, trees[0])
	}
	return writeJSON(w, trees)
}

// writeJSON writes a document for programs that people read, too.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
