package ruleset

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// recipe is one of rules/README.md: lines for the end of a file.
type recipe struct{ title, file, lines string }

func recipes(t *testing.T) map[string]recipe {
	t.Helper()
	out := map[string]recipe{}
	doc, err := os.ReadFile("../../rules/README.md")
	check(t, err)
	_, part, found := strings.Cut(string(doc), "\n## Recipes\n")
	if !found {
		t.Fatal("no recipes")
	}
	fileName := regexp.MustCompile("`([a-z]+\\.yaml)`(?::|, where)")
	for _, section := range strings.Split(part, "\n### ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		r := recipe{title: title}
		if m := fileName.FindStringSubmatch(body); m != nil {
			r.file, r.lines = m[1], indented(body)[0]
		}
		number, _, _ := strings.Cut(title, ".")
		out[number] = r
	}
	return out
}

// TestRecipes: each recipe, put where it says into a folder as init --layered makes
// it, loads without a warning and does what it promises. The examples in it are tried
// by Load; here is the effect.
func TestRecipes(t *testing.T) {
	plain, all := loaded(t), recipes(t)
	if len(all) != 14 {
		t.Errorf("%d recipes; each has a test, here or, as the last one, in package cli", len(all))
	}
	for number, c := range map[string]struct {
		does func(*Set) string
		want string
	}{
		"1": {func(s *Set) string {
			m, refused := tools.NewCatalog(s.Tools, nil, []tools.Tool{{Name: "web_search"}}).Name("google")
			if refused != nil {
				return string(refused.Code)
			}
			return m.Name
		}, "web_search"},
		"2": {func(s *Set) string {
			schema := []byte(`{"type":"object","properties":{"path":{}},"additionalProperties":false}`)
			c, refused := tools.NewCatalog(s.Tools, nil, []tools.Tool{{Name: "write", Parameters: schema}}).Call("write", []byte(`{"dest":"a"}`), tools.Ending{Terminated: true})
			if refused != nil {
				return string(refused.Code)
			}
			return string(c.Arguments)
		}, `{"path":"a"}`},
		"3": {calls("@@call read ~~ path: a b @@end"), `read {"path":"a b"}`},
		"4": {calls(`[TOOL_CALLS] [{"name": "read", "arguments": {"path": "a"}}]`), `read {"path":"a"}`},
		"5": {func(s *Set) string { return reads(s, "Done.<|im_end|>").Content }, "Done."},
		"6": {effect("kubectl --context prod-us delete x"), "deny"},
		"7": {func(s *Set) string {
			d := s.Decide(tools.Call{Name: "exec", Arguments: []byte(`{"command":"git push -f origin main"}`)}, somebody, exampleAt())
			if len(d.Audits) == 0 {
				return "not seen"
			}
			return string(d.Effect) + " " + d.Audits[0].Rule
		}, "ask pushes"},
		"8":  {effect("npm test"), "deny"},
		"9":  {func(s *Set) string { return strconv.Itoa(int(s.Limits.TextBytes)) }, strconv.Itoa(1 << 20)},
		"10": {func(s *Set) string { return s.Server("ours").ID.Value }, "ours"},
		"11": {func(s *Set) string { m, _ := s.Model("gpt-oss-b"); return m.Profile.Value }, "prose"},
		"12": {func(s *Set) string {
			r := s.Recovery.For(NotOffered)
			return r.Correction("x", "No.", []string{"read"})
		}, "No. The only tools are read."},
		"13": {calls(`<tool>read</tool><tool_input>{"path": "a"}</tool_input>`), "no call"},
	} {
		r, found := all[number]
		if !found {
			t.Errorf("there is no recipe %s", number)
			continue
		}
		files := layeredShipped(t)
		if strings.HasPrefix(r.lines, "include:") {
			files[r.file] = "version: 1\n" + r.lines
			whole, err := SourceOf("", "", shipped(t)).Whole(files)
			check(t, err)
			files = whole
		} else {
			files[r.file] += r.lines
		}
		set, problems := Load(files)
		if len(problems) > 0 {
			t.Errorf("%s: %v", r.title, problems)
			continue
		}
		if before, after := c.does(plain), c.does(set); after != c.want || before == c.want {
			t.Errorf("%s: %q before, %q after, want %q", r.title, before, after, c.want)
		}
	}
}

// reads is what a set makes of a text.
func reads(set *Set, text string) parse.Reading {
	r := set.Strategies("").Reader(tools.OpenCatalog(set.Tools), set.Facts("", "", ""))
	r.Feed(parse.Delta{Content: text})
	got, _ := r.Close("stop")
	return got
}

func calls(text string) func(*Set) string {
	return func(s *Set) string {
		got := reads(s, text).Calls
		for i := range got {
			got[i].Arguments = bytes.ReplaceAll(got[i].Arguments, []byte(`": "`), []byte(`":"`))
		}
		return callsText(got)
	}
}

// effect is what the policy makes of a command.
func effect(command string) func(*Set) string {
	return func(s *Set) string {
		return string(s.Decide(tools.Call{Name: "exec", Arguments: []byte(`{"command":"` + command + `"}`)}, somebody, exampleAt()).Effect)
	}
}

// indented gives the indented blocks of a text, without their indent. An empty line
// inside of one belongs to it.
func indented(doc string) (blocks []string) {
	inside := false
	for line := range strings.Lines(doc) {
		code, is := strings.CutPrefix(line, "    ")
		switch {
		case is && inside:
			blocks[len(blocks)-1] += code
		case is:
			blocks = append(blocks, code)
		}
		inside = is
	}
	return blocks
}
