package args

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// anyTool takes every object with the keys that it has, or every one at all.
type anyTool struct {
	keys map[string]string
	seen []Reading
}

func (t *anyTool) Name() string                          { return "tool" }
func (t *anyTool) Known() bool                           { return true }
func (t *anyTool) Harmless() bool                        { return true }
func (t *anyTool) Denies(string) bool                    { return false }
func (t *anyTool) Unsure(jsonrepair.Result, string) bool { return false }

func (t *anyTool) Sole(value string, raw bool) (string, bool) {
	for k := range t.keys {
		if raw {
			value = jsontext.Quote(value)
		}
		return "{" + jsontext.Quote(k) + ":" + value + "}", len(t.keys) == 1
	}
	return "", false
}

func (t *anyTool) Accept(r Reading) (string, bool) {
	t.seen = append(t.seen, r)
	got := plainTexts(r.Text)
	for k := range t.keys {
		if _, ok := got[k]; !ok {
			return "", false
		}
	}
	return r.Text, t.keys != nil && len(got) == len(t.keys)
}

// plainTexts is the values of an object as texts, since most notations have no others.
func plainTexts(object string) map[string]string {
	var values map[string]any
	d := json.NewDecoder(strings.NewReader(object))
	d.UseNumber()
	if d.Decode(&values) != nil {
		return nil
	}
	out := map[string]string{}
	for k, v := range values {
		out[k] = fmt.Sprint(v)
	}
	return out
}

// pieces are what values are made of.
var pieces = []string{"notes.md", "a b", "größe", "🚀", "ls -la", "first\nsecond", `say "hi"`, "it's",
	`C:\dir`, "{x}", "1, 2", "a: b",
	"<b>", "100%", "x=1&y=2", "`date`", "# why", "//host", "}", "▁", "「x」", "end", "tide table"}

// drawn is a valid object of texts and numbers, and truths.
func drawn(r *rand.Rand) string {
	var parts []string
	for i := range 1 + r.IntN(4) {
		value := jsontext.Quote(strings.TrimSpace(pick(r, pieces...) + pick(r, "", " ", "") + pick(r,
			pieces...)))
		switch r.IntN(6) {
		case 0:
			value = fmt.Sprint(r.IntN(100))
		case 1:
			value = pick(r, "true", "false")
		}
		parts = append(parts, jsontext.Quote(string(rune('a'+i))+"_key")+": "+value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// Each row undoes its own damage, by itself.
func TestRowsUndoTheirDamage(t *testing.T) {
	for _, op := range Ops() {
		if op.Damage == nil || op.Fits {
			continue
		}
		done, read := 0, 0
		for seed := range uint64(600) {
			r := rand.New(rand.NewPCG(seed, 1))
			meant := drawn(r)
			text, ok := op.Do(r, meant)
			if !ok {
				continue
			}
			done++
			tool := anyTool{keys: plainTexts(meant)}
			found, _, ok := Table{op}.Read(text, 0, &tool)
			if ok && fmt.Sprint(plainTexts(found.Object)) == fmt.Sprint(tool.keys) {
				read++
			} else if done-read < 4 {
				t.Logf("%s: %s\n damaged %q\n read    %s %v", op.ID, meant, text, found.Object, ok)
			}
		}
		if read != done || done == 0 {
			t.Errorf("%s: %d of %d are undone", op.ID, read, done)
		}
	}
}

// An object that is valid JSON was not damaged.
func TestValidObjectsAreNotUndone(t *testing.T) {
	for seed := range uint64(300) {
		var tool anyTool
		text := drawn(rand.New(rand.NewPCG(seed, 2)))
		Ops().Read(text, 0, &tool)
		if len(tool.seen) != 1 || tool.seen[0].Text != text || len(tool.seen[0].Steps) > 0 {
			t.Fatalf("%s is read as %+v", text, tool.seen)
		}
	}
}

// No row completes a value that was cut: what is read of a beginning is whole, or says that it was cut.
func TestNothingIsCompleted(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 3))
		meant := drawn(r)
		text := meant[:r.IntN(len(meant))]
		tool := anyTool{keys: plainTexts(meant)}
		if found, _, ok := Ops().Read(text, 0, &tool); ok && found.Cut == jsonrepair.Whole && !found.Raw &&
			fmt.Sprint(plainTexts(found.Object)) != fmt.Sprint(tool.keys) {
			t.Errorf("%s is read as %s by %v", text, found.Object, found.Steps)
		}
	}
}

// Hostile text takes time in line with its length.
func TestHostileTextIsLinear(t *testing.T) {
	for _, piece := range []string{`"`, `<a>`, `<a>x</a>`, `<0x41>`, `▁"`, "`", `「`, `\u{`, `a=%41&`, "a\x00",
		"\x1b[1m", `<unk>`, `"a": {`, "<json>", `<parameter name="a">`, "\ufeff", "[", "a(", "{a=",
		"a: b\n", "--a b ",
		"1: {\n", "7b", `\x7b`, "<a b=\"c\" ", "<parameter=a>b</parameter>", "Map(", "r\"a\\", "\r\n1\r\na",
		"1\r\na\r\n",
		"\n: a\n\n", ": ping\n", "<|a|>", "0x1", "{a:\"b\"+", "{a:\"b\"", "@\"\"", "{a:\"b\\n\"\n",
		"a: |\n b\n", "}", "{}",
		`{"a":1}`, "json ", "%7B", "彩", `"x"y`, `\"`, "{\"a\":1},\"b\":2}"} {
		took := func(n int) time.Duration {
			text := strings.Repeat(piece, n/len(piece))
			return testkit.LeastTime(func() {
				Ops().Read(text, 0, &anyTool{})
				Beats(text)
			})
		}
		small, large := took(8_000), took(64_000)
		if large > 24*small+150*time.Millisecond {
			t.Errorf("%q: %v, and 8 times as much takes %v", piece, small, large)
		}
		if large > 300*time.Millisecond {
			t.Logf("%q: %v for 64 KB", piece, large)
		}
	}
}

// What is read is a valid object, and a valid object is read as it is.
func FuzzRead(f *testing.F) {
	for _, s := range []string{`｛"a"：「x」｝`, "{\x00\"\x00a\x00", `▁{"a":▁"x▁y"}`, `<0x0A>{`, `a=b&c=%20`,
		`<a>b</a>`, `a": 1}`, `read(a='x', b=[1])`, "a: 1\nb: 2", `--a x`, `7b7d`, `<f a="b"/>`,
		`{"a": "\u{41}"}`,
		"\x1b[1m{", `[["a",1]]`, "[args]\na = 1\nb = 2", `{"a":1},"b":2}`, `"{\"a\":1}"`, `{"a":1} # end`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var tool anyTool
		Ops().Read(s, 0, &tool)
		trimmed := strings.TrimSpace(s)
		for _, r := range tool.seen {
			if !json.Valid([]byte(r.Text)) || r.Text[0] != '{' ||
				json.Valid([]byte(trimmed)) && trimmed[0] == '{' && r.Text != trimmed {
				t.Fatalf("%q is read as %+v", s, r)
			}
		}
		Begins(s)
		Beats(s)
		if plain := Carried(s); len(plain) > len(s) {
			t.Fatalf("%q became %q", s, plain)
		}
	})
}
