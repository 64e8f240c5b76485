package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// FuzzReply: whatever a person hands in is explained or refused, and what is shown
// of it is harmless for a terminal. Compared with itself it is the same.
func FuzzReply(f *testing.F) {
	for _, s := range []string{
		`{"message":{"content":"[TOOL:read|path=a]"},"tools":["read"],"expect":{"calls":[{"name":"read"}],"content":null}}`,
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It\\u001b[31m\"}}]}\n", "plain <|channel|>final<|message|>x", `{"input":{"chunks_b64":["4pyT"]},"tools":[]}`,
		`{"chunks":[{"choices":[]}],"upstream_error":{"status":500,"body":{}}}`,
		`{"message":{"content":"{\"name\":\"exec\",\"arguments\":{\"x\":\"y\"}}"},"model":"m","expect":{"accept":[{}],"content":["a"]}}`,
		"<|channel|>commentary to=rm\u202e<|message|>{\"a\":1}<|call|>",
	} {
		f.Add(s)
	}
	files, err := rulefile.Builtin(os.DirFS("../.."))
	if err != nil {
		f.Fatal(err)
	}
	delete(files, "tests/replies.yaml")
	const when = "text contains \"e\" and (int(text) > 3 or len(tools) > 1 and not (field == \"content\" or user == text))"
	files["strategies.yaml"] = testkit.Replace(f, dropExamples(files["strategies.yaml"]), "    kind: ",
		"    when: '"+when+"'\n    kind: ", -1)
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, "tests/") })
	set, problems := ruletest.Loader().Load(files)
	if set == nil {
		f.Fatal(problems)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		rec, err := replay.ParseRecord([]byte(doc))
		if err != nil {
			return
		}
		tree, err := replay.ExplainTree(set, guard.World{}, "prose", rec)
		if err != nil {
			return
		}
		var out bytes.Buffer
		p := Printer{out: bufio.NewWriter(&out)}
		if err := p.Document(nil, treeRows(tree)); err != nil {
			t.Fatal(err)
		}
		if bad := strings.IndexFunc(out.String(),
			func(r rune) bool { return r != '\n' && r != ' ' && !unicode.IsPrint(r) }); bad >= 0 {
			t.Errorf("%q shows %q", doc, out.String()[bad:])
		}
		if d := difference("a", "b", treeRows(tree), treeRows(tree)); len(d) != 1 {
			t.Errorf("%q differs from itself:\n%v", doc, d)
		}
		if _, err := json.Marshal(tree); err != nil {
			t.Errorf("%q: %v", doc, err)
		}
		one, err := rec.Make(set, guard.World{}, "prose")
		if err != nil {
			return
		}
		if two, err := rec.Make(set, guard.World{}, "prose"); err != nil || !one.Same(&two) {
			t.Errorf("%q read twice: %+v, then %+v, %v", doc, one, two, err)
		}
	})
}

// dropExamples removes hit, miss and when of strategies.yaml: with conditions of
// our own, examples do not hold.
func dropExamples(doc string) string {
	var out []string
	skip := false
	for _, line := range strings.Split(doc, "\n") {
		switch key := strings.TrimPrefix(line, "    "); {
		case strings.HasPrefix(key, "hit:"), strings.HasPrefix(key, "miss:"), strings.HasPrefix(key, "when:"):
			skip = true
		case !strings.HasPrefix(line, "     ") && line != "":
			skip = false
		}
		if !skip {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
