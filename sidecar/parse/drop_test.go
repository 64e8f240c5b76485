package parse_test

import (
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

const dropping = `version: 1
strategies:
  - id: end_tokens
    about: Of another model's template.
    kind: drop
    priority: 40
    confidence: 1
    drop:
      text: ['<|eot_id|>', '[END]', 'eom>>']
    hit:
      - {text: 'Done.<|eot_id|>', gives: [], shows: Done.}
    miss: ['In a span ` + "`<|eot_id|>`" + ` it stays.']
`

// Text that a rule drops is gone, in any pieces, with and without tools; what is
// quoted as code stays, and so does everything around it.
func TestDrop(t *testing.T) {
	s := taught(t, dropping, false).Strategies("")
	for text, want := range map[string]string{
		"Done.<|eot_id|>":                        "Done.",
		"<|EOT_ID|>One.[END] Two.<|eot_id|>\n":   "One. Two.\n",
		"`[END]` and\n```\n[END]\n```\n[END]":    "`[END]` and\n```\n[END]\n```\n",
		"[EN] [END <|im_en seom>> eom>>x":        "[EN] [END <|im_en seom>> x",
		"A call: [TOOL:read|path=[END]] [END]":   "A call: ",
		"[END][TOOL:read|path=a.txt]<|eot_id|>.": "",
	} {
		for _, c := range []*tools.Catalog{tools.OpenCatalog(shipped.Tools), tools.NewCatalog(shipped.Tools,
			nil, []tools.Tool{{Name: "read"}})} {
			for size := 1; size <= len(text); size++ {
				r := s.Reader(c, parse.Facts{})
				for at := 0; at < len(text); at += size {
					r.Feed(parse.Delta{Content: text[at:min(at+size, len(text))]})
				}
				if got, _ := r.Close("stop"); got.Content != want {
					t.Fatalf("%q in pieces of %d shows %q, not %q", text, size, got.Content, want)
				}
			}
		}
	}
}
