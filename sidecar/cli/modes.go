package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// modes is the annotation of a command that says which flags go with which.
const modes = "modes"

// Modes declares what a command does by which flag, and all flags that have an effect then: "jsonl: confined
// cwd". The flag may be followed by a value, as in "as=corpus: to". An empty one stands for a command to
// which none of them is given. A flag that a mode does not list is refused there, rather than ignored.
func Modes(c *cobra.Command, lines ...string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[modes] = strings.Join(lines, "\n")
}

// mode is one of them.
type mode struct {
	flag, value string
	goes        []string
}

func modesOf(c *cobra.Command) (out []mode) {
	for line := range strings.Lines(c.Annotations[modes]) {
		by, list, _ := strings.Cut(line, ":")
		flag, value, _ := strings.Cut(by, "=")
		out = append(out, mode{flag, value, strings.Fields(list)})
	}
	return out
}

// on reports whether the flags of a command choose the mode.
func (m mode) on(c *cobra.Command) bool {
	f := c.Flags().Lookup(m.flag)
	return f != nil && f.Changed && f.Value.String() != "false" && (m.value == "" ||
		f.Value.String() == m.value)
}

// ignored is the error of a flag that would have no effect.
func ignored(c *cobra.Command) (err error) {
	all := modesOf(c)
	if all == nil {
		return nil
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		chosen := false
		var with []string // that it goes with
		for _, m := range all {
			is := m.flag == f.Name && (m.value == "" || m.value == f.Value.String())
			if m.on(c) && !is && !slices.Contains(m.goes, f.Name) && err == nil {
				err = fmt.Errorf("--%s has no effect with --%s; leave one of them out", f.Name,
					strings.TrimSpace(m.flag+" "+m.value))
			}
			chosen = chosen || m.flag != "" && m.on(c)
			if slices.Contains(m.goes, f.Name) && m.flag != "" {
				with = append(with, "--"+strings.TrimSpace(m.flag+" "+m.value))
			}
		}
		byDefault := func(m mode) bool {
			return m.flag == "" && slices.Contains(m.goes, f.Name) || m.flag == f.Name
		}
		if !chosen && err == nil && f.Name != "help" && !slices.ContainsFunc(all, byDefault) {
			err = fmt.Errorf("--%s has no effect here", f.Name)
			if len(with) > 0 {
				err = fmt.Errorf("--%s has an effect only with %s", f.Name, or(with))
			}
		}
	})
	return err
}

// or joins names for a sentence.
func or(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, "")
}
