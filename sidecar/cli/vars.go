package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

func varsCommand(env Env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:  "vars [FILE]",
		Args: Arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			v := env.Loader().Vars()
			if len(args) == 1 {
				if err := keepFile(&v, args[0]); err != nil {
					return err
				}
			}
			if asJSON {
				return env.Printer(true).Document(v, nil)
			}
			return printVars(env.Out, v)
		},
	}
	JSONFlag(c, &asJSON, "one document, for editors")
	return c
}

// keepFile keeps the conditions of one file, given by its name or path.
func keepFile(v *ruleset.Vocabulary, file string) error {
	name := strings.TrimSuffix(filepath.Base(file), ".yaml") + ".yaml"
	var files []string
	for _, c := range v.Conditions {
		files = append(files, c.File)
	}
	v.Conditions = slices.DeleteFunc(v.Conditions, func(c ruleset.Condition) bool { return c.File != name })
	if len(v.Conditions) == 0 {
		return fmt.Errorf("%s holds no conditions; these files do: %s", name,
			strings.Join(slices.Compact(files), ", "))
	}
	return nil
}

func printVars(out io.Writer, v ruleset.Vocabulary) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range v.Conditions {
		fmt.Fprintf(w, "%s %s sees\n", c.File, c.Key)
		for _, x := range c.Variables {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", x.Name, x.Type, x.About)
		}
		fmt.Fprintln(w)
	}
	for _, part := range []struct {
		title string
		words []cond.Word
	}{{"functions, as strategies.yaml may use them", v.Functions}, {"operators", v.Operators}} {
		fmt.Fprintln(w, part.title)
		for _, x := range part.words {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", x.Name, x.About, x.Example)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "limits")
	for _, l := range v.Limits {
		fmt.Fprintln(w, "  "+l)
	}
	return w.Flush()
}
