package parse

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// guess reads prose for a wish to call a read-only tool: the last resort, off by
// default. It looks at plain sentences only.
func (r *Reader) guess() {
	st := r.s.phrases
	shown := r.shown.String()
	if st == nil || r.c.Open() || r.c.Empty() || strings.ContainsAny(shown, "`\u201c") {
		return
	}
	for w := range In(shown, st.Phrase) {
		tool := w.Phrase.Tool
		if !scan.Among(tool, st.Tools) || !r.c.Exact(tool) || r.c.Class(tool) != tools.Read ||
			!r.allowed(st, Content, w.At, w.At+len(w.Sentence), w.Sentence) {
			continue
		}
		call, refusal := r.c.Call(tool, []byte(jsontext.Object(w.Phrase.Take, w.Value)), tools.Ending{})
		if refusal == nil {
			t := text{r: r, field: Content, base: w.At}
			t.take(st, 0, len(w.Sentence), call, nil,
				[]tools.Repair{{Kind: "call.guessed", At: w.At, To: call.Name, Rule: w.Phrase.Place}})
		}
		return
	}
}
