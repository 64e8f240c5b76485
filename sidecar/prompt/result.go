package prompt

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Result returns a result as the model reads it. Equal results are edited equally, so that the server
// finds its prompt cache.
func (e *Edits) Result(of ResultFacts) (string, EditsDone) {
	if e.results.none() {
		return of.Text, EditsDone{}
	}
	var done EditsDone
	return strings.Join(e.parts(of, []string{of.Text}, &done), ""), done
}

// parts is Result for a text in parts.
func (e *Edits) parts(of ResultFacts, parts []string, done *EditsDone) []string {
	own, locked := e.results.holding(whole(of, parts), done)
	return through(parts, stepsOfResult(own), stepsOfResult(locked), done)
}

func stepsOfResult(list []compiled[resultRule, ResultFacts]) (out []step) {
	for _, c := range list {
		out = append(out, c.steps...)
	}
	return out
}

// whole is a result with the text that conditions see.
func whole(of ResultFacts, parts []string) ResultFacts {
	of.Text = strings.Join(parts, "\n")
	of.Size = utf8.RuneCountInString(of.Text)
	return of
}

// failed reports whether the text of a result says that its tool failed.
func failed(text string) bool {
	head := strings.TrimSpace(text[:min(len(text), 64)])
	if len(head) >= 5 && strings.EqualFold(head[:5], "error") {
		return true
	}
	if !strings.HasPrefix(head, "{") || !gjson.Valid(text) {
		return false
	}
	doc := gjson.Parse(text)
	why := doc.Get("error")
	return doc.Get("status").String() == "error" || why.Exists() && why.Type != gjson.Null &&
		why.Type != gjson.False
}
