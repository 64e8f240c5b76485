package run

import (
	"cmp"
	"errors"
	"math"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// weigh estimates how many tokens a text takes.
func weigh(text []byte) float64 {
	const ascii, letter, ideograph, symbol = 1 / 3.5, 0.5, 1, 2
	plain, all := 0, 0.0
	for _, b := range text {
		switch { // by the first byte of a character
		case b < 0x80:
			plain++
		case b < 0xC0:
		case b < 0xE0:
			all += letter
		case b < 0xF0:
			all += ideograph
		default:
			all += symbol
		}
	}
	return all + float64(plain)*ascii
}

// tokenCount is how many tokens a conversation takes: the server's count of the last request, and an
// estimate for what has changed since.
type tokenCount struct {
	counted int     // of a request and its reply; 0: unknown
	weight  float64 // estimate for both
	rate    float64 // tokens per estimated token
	prompt  int     // of that request; 0: the conversation was shortened since
}

// Bounds of rate. A request with pictures weighs far more than its tokens.
const minRate, maxRate = 0.5, 2

// count takes the server's count for a request and a reply of these weights.
func (t *tokenCount) count(u usage, request, reply float64) {
	if u.prompt <= 0 {
		t.prompt = 0
		return
	}
	*t = tokenCount{counted: u.prompt + u.completion, weight: request + reply, prompt: u.prompt,
		rate: min(max(float64(u.prompt)/max(request, 1), minRate), maxRate)}
}

// tokens returns the tokens of a conversation of this weight.
func (t *tokenCount) tokens(weight float64) int {
	if t.counted == 0 {
		return int(weight)
	}
	return max(t.counted+int(t.rate*(weight-t.weight)), 0)
}

// contextSize returns how many tokens the server takes.
func (r *Run) contextSize() int { return cmp.Or(r.window, r.rules.Context.Window) }

// share returns which share of the context these tokens are, without what is reserved for a reply.
func (r *Run) share(tokens int) float64 {
	window := r.contextSize()
	return float64(tokens) / float64(max(window-max(r.rules.Context.Reserve, r.maxReply), window/2, 1))
}

// used returns the share of the conversation.
func (r *Run) used() float64 { return r.share(r.tokens.tokens(r.talk.weight())) }

// addTurn adds a reply and the results of its calls to the conversation.
func (r *Run) addTurn(s *modelReply, results []tools.Result) {
	before := r.talk.weight()
	r.talk.addTurn(s, results)
	r.tokens.count(s.usage, before, r.talk.turns[len(r.talk.turns)-1].weight)
	r.pending, r.history.results = nil, nil
}

// fit shortens the conversation before the model is asked, as the rules say. It depends only on the
// rules, the window and the run so far: a run that is resumed after a crash gets the same
// conversation, but for secrets. It returns the share that was used.
func (r *Run) fit() (used float64, shortened bool) {
	c := &r.rules.Context
	used = r.used()
	if used >= c.TrimAt {
		shortened = r.talk.trim(c.Keep, r.shorten)
	}
	if used >= c.CompactAt && r.used() >= c.CompactAt {
		shortened = r.talk.compact(c.Keep) || shortened
	}
	if shortened {
		r.tokens.prompt = 0
	}
	return used, shortened
}

// squeeze leaves only the last turn, shortened, because the server takes less than expected. It
// reports whether anything was left out.
func (r *Run) squeeze() bool {
	was := r.tokens.tokens(r.talk.weight())
	trimmed := r.talk.trim(0, r.shorten)
	if !r.talk.compact(1) && !trimmed {
		return false
	}
	r.window = min(r.contextSize(), was)
	r.tokens.prompt = 0
	return true
}

// shorten shortens an old result.
func (r *Run) shorten(tool, text string) string {
	b := r.set.Results.Bounds(ruleset.OfRuns, tool, r.window, len(text))
	text, _ = tools.Trim(text, tools.TrimBounds{Chars: r.rules.Context.TrimTo, Head: b.Head, Hint: b.Hint})
	return text
}

// overflow returns why a request was too long: the server refused it, or dropped some of it without
// saying so; "" if it was not.
func (r *Run) overflow(s *modelReply, err error) string {
	var failed *openai.Error
	switch {
	case err == nil && r.tokens.dropped(s.usage):
		return "the server has left out some of the messages, and did not say so"
	case errors.As(err, &failed) && failed.Code == openai.OverflowCode:
		return failed.Message
	}
	return ""
}

// dropped reports whether a longer request took fewer tokens than the one before. Less than half means
// a server that does not count cached tokens.
func (t *tokenCount) dropped(u usage) bool {
	return t.prompt > 0 && u.prompt < t.prompt && u.prompt >= t.prompt/2
}

// percent returns a share as a percentage with one decimal.
func percent(share float64) float64 { return math.Round(share*1000) / 10 }
