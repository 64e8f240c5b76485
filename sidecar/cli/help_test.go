package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// everyCommand is the root and all commands below it.
func everyCommand(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			all = append(all, everyCommand(sub)...)
		}
	}
	return all
}

func newRoot() *cobra.Command {
	return rootCommand(Env{Parts: Parts, Defaults: os.DirFS("../..")})
}

// What holds for every help page, whichever commands there are.
func TestHelpPages(t *testing.T) {
	all := everyCommand(newRoot())
	if len(all) < 30 {
		t.Fatalf("%d commands: nothing is tested", len(all))
	}
	for _, c := range all {
		var out bytes.Buffer
		words := strings.Fields(c.CommandPath())[1:]
		if code := Run(append(words, "--help"),
			Env{Parts: Parts, Out: &out, Err: &out, Defaults: os.DirFS("../..")}); code != 0 {
			t.Errorf("%s: exit code %d", c.CommandPath(), code)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimRight(line, "\n")
			if n := utf8.RuneCountInString(line); n > PageWidth || strings.ContainsRune(line, '\t') ||
				strings.TrimRight(line, " ") != line {
				t.Errorf("%s: %d characters: %q", c.CommandPath(), n, line)
			}
		}
		for _, part := range []string{"\nUsage:\n  gpt-oss-executor", "\nExamples:\n  ", "\nFlags:\n  "} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: no %q in\n%s", c.CommandPath(), part, &out)
			}
		}
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || !unicode.IsUpper(rune(c.Short[0])) {
			t.Errorf("%s: %q", c.CommandPath(), c.Short)
		}
	}
}

// A flag says what it does and what it takes, in words of ours. There is one way to ask for
// JSON.
func TestFlags(t *testing.T) {
	for _, c := range everyCommand(newRoot()) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			takes, text := pflag.UnquoteUsage(f)
			switch {
			case text == "":
				t.Errorf("%s --%s has no text", c.CommandPath(), f.Name)
			case takes != strings.ToUpper(takes):
				t.Errorf("%s --%s takes a %q", c.CommandPath(), f.Name, takes)
			case (f.Name == "json") != strings.HasPrefix(text, "write JSON: "):
				t.Errorf("%s --%s: %s", c.CommandPath(), f.Name, text)
			case !f.Hidden && strings.Contains(f.Name, "format") &&
				c.Flags().Lookup("upstream") == nil: // those of serve have settings
				t.Errorf("%s --%s is another way to ask for JSON", c.CommandPath(), f.Name)
			}
		})
	}
}

// Each line of an example is a command that exists, with flags and arguments that it takes;
// and the examples of a command are its own.
func TestHelpExamples(t *testing.T) {
	for _, c := range everyCommand(newRoot()) {
		script, err := syntax.NewParser().Parse(strings.NewReader(c.Example), c.CommandPath())
		if err != nil {
			t.Fatal(err)
		}
		own := 0
		syntax.Walk(script, func(n syntax.Node) bool {
			call, ok := n.(*syntax.CallExpr)
			if !ok || call.Args[0].Lit() != "gpt-oss-executor" {
				return true
			}
			words, err := expand.Fields(&expand.Config{}, call.Args...)
			if err != nil {
				t.Fatal(err)
			}
			about, rest, err := newRoot().Find(words[1:])
			if err == nil {
				err = about.ParseFlags(rest)
			}
			if err == nil {
				err = about.ValidateArgs(about.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: %q: %v", c.CommandPath(), words, err)
			}
			if strings.HasPrefix(about.CommandPath()+" ", c.CommandPath()+" ") {
				own++
			}
			return true
		})
		if own == 0 {
			t.Errorf("%s: no example is about it:\n%s", c.CommandPath(), c.Example)
		}
	}
}

// Help and the guide list every setting: its key, its variable, and its flag, unless it is
// a secret.
func TestSettingsAreListed(t *testing.T) {
	var out bytes.Buffer
	if code := Run([]string{"serve", "--help"},
		Env{Parts: Parts, Out: &out, Err: &out, Defaults: os.DirFS("../..")}); code != 0 {
		t.Fatal(&out)
	}
	guide, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	secrets := 0
	settings := (Env{Parts: Parts}).DefaultSettings()
	for _, s := range settings.All() {
		flag, page := "`--"+s.Flag()+"`", "  --"+s.Flag()+" "+s.Is
		if s.Bare != "" {
			page = "  --" + s.Flag() + " " + s.Is + "[=" + s.Bare + "]"
		}
		if s.Flag() == "" {
			secrets++
			flag, page = "none", s.Variable()+" ("+s.Key+
				" in the config file)\n      "+strings.Fields(s.Doc)[0]+" "
		}
		if !strings.Contains(out.String(), page) {
			t.Errorf("serve --help has no %q", page)
		}
		if row := "| `" + s.Key + "` | `" + s.Variable() + "` | " + flag +
			" |"; !strings.Contains(string(guide), row) {
			t.Errorf("settings.md has no row %s", row)
		}
	}
	if secrets != 8 {
		t.Errorf("%d secrets", secrets)
	}
}

// A setting in a flag beats the environment, which beats the file, which beats the default,
// for each of them.
func TestSettingsStack(t *testing.T) {
	dir := t.TempDir()
	all := Env{Parts: Parts}.DefaultSettings()
	for _, s := range all.All() {
		file := dir + "/" + s.Key + ".yaml"
		values := strings.Fields(s.One)
		if len(values) == 0 {
			values = []string{"/a", "/b", "/c"}
		}
		if s.Is == "" { // a file holds it
			for i := range values {
				values[i] = fmt.Sprint("secret", i)
			}
		}
		text := s.Key + ": '" + values[0] + "'\n"
		if with := strings.Fields(s.With); len(with) > 0 {
			text += with[0] + ": /x\n"
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			environ []string
			args    []string
			want    string
		}{
			{nil, nil, values[0]},
			{[]string{s.Variable() + "=" + values[1]}, nil, values[1]},
			{[]string{s.Variable() + "=" + values[1]}, []string{"--" + s.Flag(), values[0]}, values[0]},
		} {
			if c.args != nil && s.Flag() == "" {
				continue
			}
			cmd := serveCommand(Env{Parts: Parts})
			if err := cmd.ParseFlags(c.args); err != nil {
				t.Fatal(err)
			}
			got, err := SettingsOf(cmd, file, Env{Parts: Parts, Environ: c.environ})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range got.All() {
				if f.Key == s.Key && *f.Text != c.want {
					t.Errorf("%s with %v %v: %q, want %q", s.Key, c.environ, c.args, *f.Text, c.want)
				}
			}
		}
	}
}

// A setting that only says more of another one is refused without it, wherever it stands, and is never
// ignored.
func TestSettingsGoTogether(t *testing.T) {
	env := Env{Parts: Parts}
	all, together := env.DefaultSettings(), 0
	for _, s := range all.All() {
		if s.With == "" {
			continue
		}
		together++
		value := "x"
		if s.One != "" {
			value = strings.Fields(s.One)[1]
		}
		for _, with := range append(strings.Fields(s.With), "") {
			cmd := serveCommand(env)
			if s.Flag() != "" {
				if err := cmd.ParseFlags([]string{"--" + s.Flag(), value}); err != nil {
					t.Fatal(err)
				}
			} else {
				env.Environ = []string{s.Variable() + "=" + value}
			}
			if with != "" {
				env.Environ = append(env.Environ, config.Prefix+strings.ToUpper(with)+"=/x")
			}
			_, err := SettingsOf(cmd, "", env)
			if env.Environ = nil; with == "" && (err == nil || !strings.HasPrefix(err.Error(), s.Key+" has an effect only with ")) ||
				with != "" && err != nil {
				t.Errorf("%s with %q: %v", s.Key, with, err)
			}
		}
	}
	if together < 8 {
		t.Errorf("%d settings go with others", together)
	}
}

// A setting with a list of values takes these, in upper or lower case, and no other, from wherever it comes.
func TestSettingsOneOf(t *testing.T) {
	all, lists := Env{Parts: Parts}.DefaultSettings(), 0
	for _, s := range all.All() {
		if s.One == "" {
			continue
		}
		lists++
		for _, value := range strings.Fields(s.One) {
			if err := s.Set(strings.ToUpper(value)); err != nil || *s.Text != value {
				t.Errorf("%s %s: %v, %q", s.Key, value, err, *s.Text)
			}
		}
		if err := s.Set("perhaps"); err == nil || !strings.HasPrefix(err.Error(), `"perhaps" is not one of `) {
			t.Errorf("%s: %v", s.Key, err)
		}
	}
	if lists < 8 {
		t.Errorf("%d settings have a list of values", lists)
	}
}

// Each command says itself how many arguments it takes: its error shows its usage, and no text of a library.
func TestArgumentsAreCounted(t *testing.T) {
	refused := 0
	for _, c := range everyCommand(newRoot()) {
		for n := range 9 {
			err := c.Args(c, slices.Repeat([]string{"bash"}, n))
			if err == nil || c.HasSubCommands() {
				continue
			}
			if refused++; !errors.As(err, new(Misuse)) || strings.Contains(err.Error(), "arg(s)") ||
				strings.Contains(err.Error(), "unknown command") {
				t.Errorf("%s with %d arguments: %v", c.CommandPath(), n, err)
			}
		}
	}
	if refused < 100 {
		t.Errorf("%d calls are refused: nothing is tested", refused)
	}
}

// A command that takes a folder of rules as an argument says so where the folder is given as a flag.
func TestFolderIsNoFlag(t *testing.T) {
	hinted := 0
	for _, c := range everyCommand(newRoot()) {
		if c.Parent() != c.Root() || !strings.Contains(c.Use, "DIR") || c.Flags().Lookup("rules") != nil {
			continue
		}
		hinted++
		var out bytes.Buffer
		code := Run([]string{c.Name(), "--rules", "x"},
			Env{Parts: Parts, Out: &out, Err: &out, Defaults: os.DirFS("../..")})
		if want := "is an argument: " + c.CommandPath() + " DIR\n"; code != 2 || !strings.Contains(out.String(), want) {
			t.Errorf("%s --rules: exit code %d, %s", c.CommandPath(), code, &out)
		}
	}
	if hinted < 5 {
		t.Errorf("%d commands: nothing is tested", hinted)
	}
}
