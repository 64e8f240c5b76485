package parse

import (
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// guess looks in plain sentences for the wish to call a tool that reads. It is the last resort, and off
// by default.
func (r *Reader) guess() {
	st := r.s.phrases
	shown := r.shown.String()
	if st == nil || r.c.Open() || r.c.Empty() || strings.ContainsAny(shown, "`\u201c") {
		return
	}
	for w := range Matches(shown, st.Phrase) {
		tool := w.Phrase.Tool
		if !scan.Among(tool, st.Tools) || !r.c.Exact(tool) || r.c.Class(tool) != tools.Read ||
			!r.allowed(st, Content, w.At, w.At+len(w.Sentence), w.Sentence) {
			continue
		}
		call, refusal := r.c.Call(tool, []byte(jsontext.Object(w.Phrase.Take, w.Value)), tools.Ending{})
		if refusal == nil {
			t := text{r: r, field: Content, base: w.At}
			t.record(st, 0, len(w.Sentence), call, nil,
				[]tools.Repair{{Kind: "call.guessed", At: w.At, To: call.Name, Rule: w.Phrase.Place}})
		}
		return
	}
}

// Phrase is prose that asks for a tool.
type Phrase struct {
	Tool  string
	After []string // words in front of the argument, any case
	Until []string // words that end a sentence early
	Take  string   // the argument to fill
	As    string   // sentence, quoted, url or path
	Place string   // file:line of the rule
}

// Match is a sentence that asks for a tool.
type Match struct {
	At       int // byte offset of the sentence in its text
	Sentence string
	Phrase   *Phrase
	Value    string // the argument; never empty
}

// intents announce what a model is about to do. A phrase counts only behind one.
var intents = []string{"i'll", "i will", "i’ll", "let me", "let's", "let’s", "i am going to", "i'm going to",
	"i need to", "we need to", "i should", "next i"}

// doubts in a sentence mean that nothing is about to happen.
var doubts = []string{" not ", "n't ", "n’t ", " never ", " if ", " would ", " could ", " unless ",
	" once you ", " when you ", " after you ", " instead of ", " without ", " example"}

// Matches yields the sentences in plain text that ask for a tool, in order, once for each phrase.
func Matches(text string, phrases []Phrase) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		for at, sentence := range sentences(text) {
			low := " " + strings.ToLower(sentence) + " "
			if strings.HasSuffix(sentence, "?") || contains(low, doubts) || !contains(low, intents) {
				continue
			}
			for i := range phrases {
				if value, ok := phrases[i].match(sentence); ok &&
					!yield(Match{at, sentence, &phrases[i], value}) {
					return
				}
			}
		}
	}
}

func contains(s string, list []string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return strings.Contains(s, x) })
}

// sentences yields the sentences of plain text with their offsets.
func sentences(s string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		from := 0
		for i := 0; i <= len(s); i++ {
			end := i == len(s) || s[i] == '\n' ||
				(s[i] == '.' || s[i] == '!' || s[i] == '?') && (i+1 == len(s) || scan.IsSpace(s[i+1]))
			if !end {
				continue
			}
			to := min(i+1, len(s))
			if part := strings.TrimSpace(s[from:to]); part != "" {
				if !yield(from, part) {
					return
				}
			}
			from = to
		}
	}
}

// match finds the phrase in a sentence and returns the argument behind it.
func (p *Phrase) match(sentence string) (value string, ok bool) {
	low := strings.ToLower(sentence)
	best, end := -1, 0
	for _, w := range p.After {
		w = strings.ToLower(w)
		i := strings.Index(low, w)
		if i < 0 || i > 0 && scan.IsWord(low[i-1]) || i+len(w) < len(low) && scan.IsWord(low[i+len(w)]) {
			continue
		}
		if i+len(w) > end {
			best, end = i, i+len(w)
		}
	}
	if best < 0 || len(low) != len(sentence) {
		return "", false
	}
	value = p.take(strings.TrimSpace(sentence[end:]))
	return value, value != ""
}

// take returns the argument at the start of rest, in the shape As.
func (p *Phrase) take(rest string) string {
	word, _, _ := strings.Cut(rest, " ")
	switch p.As {
	case "quoted":
		if len(rest) > 2 && (rest[0] == '"' || rest[0] == '\'') {
			if i := strings.IndexByte(rest[1:], rest[0]); i > 0 {
				return rest[1 : i+1]
			}
		}
	case "url":
		word = strings.TrimRight(word, ".,;:!)")
		if u, err := url.Parse(word); err == nil && u.Host != "" && (u.Scheme == "http" ||
			u.Scheme == "https") {
			return word
		}
	case "path":
		word = strings.Trim(word, ".,;:!)\"'")
		if strings.ContainsAny(word, "/.") && word != "" {
			return word
		}
	default:
		low := strings.ToLower(rest)
		for _, u := range p.Until {
			if i := strings.Index(low, u); i > 0 {
				rest, low = rest[:i], low[:i]
			}
		}
		return strings.Trim(rest, " .!,;:")
	}
	return ""
}
