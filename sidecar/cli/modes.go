package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// modes is the key of the annotation that Modes writes.
const modes = "modes"

// Modes declares the modes of a command, a line each: the flag that selects the mode, and the flags that
// have an effect in it, such as "jsonl: confined cwd". A value may follow the flag, as in "as=corpus: to".
// An empty flag stands for the mode without any of them. A flag without effect is refused, not ignored.
func Modes(c *cobra.Command, lines ...string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[modes] = strings.Join(lines, "\n")
}

// mode is a parsed line of Modes.
type mode struct {
	flag, value string
	flags       []string
}

func modesOf(c *cobra.Command) (out []mode) {
	for line := range strings.Lines(c.Annotations[modes]) {
		by, list, _ := strings.Cut(line, ":")
		flag, value, _ := strings.Cut(by, "=")
		out = append(out, mode{flag, value, strings.Fields(list)})
	}
	return out
}

// on reports whether the flags of a command select the mode.
func (m mode) on(c *cobra.Command) bool {
	f := c.Flags().Lookup(m.flag)
	return f != nil && f.Changed && f.Value.String() != "false" && (m.value == "" ||
		f.Value.String() == m.value)
}

// unusedFlag returns an error if a flag has no effect in the selected mode.
func unusedFlag(c *cobra.Command) (err error) {
	all := modesOf(c)
	if all == nil {
		return nil
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		chosen := false
		var with []string // modes in which it has an effect
		for _, m := range all {
			is := m.flag == f.Name && (m.value == "" || m.value == f.Value.String())
			if m.on(c) && !is && !slices.Contains(m.flags, f.Name) && err == nil {
				err = fmt.Errorf("--%s has no effect with --%s; leave one of them out", f.Name,
					strings.TrimSpace(m.flag+" "+m.value))
			}
			chosen = chosen || m.flag != "" && m.on(c)
			if slices.Contains(m.flags, f.Name) && m.flag != "" {
				with = append(with, "--"+strings.TrimSpace(m.flag+" "+m.value))
			}
		}
		byDefault := func(m mode) bool {
			return m.flag == "" && slices.Contains(m.flags, f.Name) || m.flag == f.Name
		}
		if !chosen && err == nil && f.Name != "help" && !slices.ContainsFunc(all, byDefault) {
			err = fmt.Errorf("--%s has no effect here", f.Name)
			if len(with) > 0 {
				err = fmt.Errorf("--%s has an effect only with %s", f.Name, orList(with))
			}
		}
	})
	return err
}

// orList joins names with commas and "or".
func orList(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, "")
}
