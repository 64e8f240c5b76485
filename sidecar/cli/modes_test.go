package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestModes: where what a command does depends on a flag, each flag is declared for each such mode, or it is
// refused there with a sentence that names both. None is taken and ignored.
func TestModes(t *testing.T) {
	seen := 0
	for _, c := range everyCommand(newRoot()) {
		declared := c.Annotations["modes"]
		if declared == "" {
			for _, name := range []string{"jsonl", "probe", "ticket", "live", "prometheus", "mix", "record",
				"as", "undo", "check", "write"} {
				if f := c.Flags().Lookup(name); f != nil && c.Name() != "apply" && c.Name() != "fmt" &&
					c.Name() != "fit" {
					t.Errorf("%s --%s changes which flags have an effect, and declares no modes",
						c.CommandPath(), name)
				}
			}
			continue
		}
		seen++
		var flags []*pflag.Flag
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
		known := map[string]bool{}
		for line := range strings.Lines(declared) {
			by, list, _ := strings.Cut(strings.TrimSpace(line), ":")
			by, value, _ := strings.Cut(by, "=")
			goes := append(strings.Fields(list), by)
			for _, name := range goes {
				if known[name] = true; name != "" &&
					!slices.ContainsFunc(flags, func(f *pflag.Flag) bool { return f.Name == name }) {
					t.Errorf("%s: mode %q: there is no --%s", c.CommandPath(), by, name)
				}
			}
			for _, f := range flags {
				refused := refusedFlags(t, c.CommandPath(), by, value, f)
				if slices.Contains(goes, f.Name) == (refused != "") && f.Name != "help" &&
					(by != "" || !strings.Contains("\n"+declared, "\n"+f.Name+":")) {
					t.Errorf("%s: mode %q, --%s: %q", c.CommandPath(), by, f.Name, refused)
				}
			}
		}
		for _, f := range flags {
			// what is inherited may have no effect
			if !known[f.Name] && f.Name != "help" && c.LocalFlags().Lookup(f.Name) != nil {
				t.Errorf("%s: no mode has --%s", c.CommandPath(), f.Name)
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d commands have modes", seen)
	}
}

// refusedFlags says why a command refuses a flag in a mode; empty: it takes it.
func refusedFlags(t *testing.T, path, by, value string, f *pflag.Flag) string {
	t.Helper()
	args := []string{sample(f, "")}
	c, _, err := newRoot().Find(strings.Fields(path)[1:])
	if err != nil {
		t.Fatal(err)
	}
	if by != "" && by != f.Name {
		args = append(args, sample(find(c, by), value))
	}
	if err := c.ParseFlags(args); err != nil {
		t.Fatalf("%s %q: %v", path, args, err)
	}
	if err := c.ValidateArgs(nil); err != nil && strings.Contains(err.Error(), " effect ") {
		return err.Error()
	}
	return ""
}

func find(c *cobra.Command, name string) *pflag.Flag {
	if f := c.LocalFlags().Lookup(name); f != nil {
		return f
	}
	return c.InheritedFlags().Lookup(name)
}

// sample is a flag with a value of its kind.
func sample(f *pflag.Flag, value string) string {
	values := map[string]string{"bool": "true", "int": "1", "uint64": "1", "float64": "1",
		"float64Slice": "1", "duration": "1s"}
	if value == "" {
		value = values[f.Value.Type()]
	}
	if value == "" {
		value = "x"
	}
	return "--" + f.Name + "=" + value
}
