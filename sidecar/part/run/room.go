package run

import (
	"cmp"
	"errors"
	"math"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// weigh is about how many tokens a text takes, as long as no server has counted any.
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

// tally is how many tokens a talk takes: those that the server counted when it was asked last,
// and an estimate for what has changed since.
type tally struct {
	counted int     // tokens of a request and its reply; 0: the server has not said
	weight  float64 // of both
	rate    float64 // tokens for one that weigh gives
	prompt  int     // tokens of that request, while nothing was taken from the talk since
}

// The server's count corrects the estimate within these bounds. A request with pictures in it
// weighs far more than its tokens.
const minRate, maxRate = 0.5, 2

// count takes over what the server counted, for a request and a reply of these weights.
func (t *tally) count(u usage, request, reply float64) {
	if u.prompt <= 0 {
		t.prompt = 0
		return
	}
	*t = tally{counted: u.prompt + u.completion, weight: request + reply, prompt: u.prompt,
		rate: min(max(float64(u.prompt)/max(request, 1), minRate), maxRate)}
}

// of is how many tokens a talk of this weight takes.
func (t *tally) of(weight float64) int {
	if t.counted == 0 {
		return int(weight)
	}
	return max(t.counted+int(t.rate*(weight-t.weight)), 0)
}

// takes is how many tokens the server takes.
func (r *Run) takes() int { return cmp.Or(r.window, r.rules.Context.Window) }

// share is how much of the room these tokens take: that is the window without what a reply
// needs.
func (r *Run) share(tokens int) float64 {
	window := r.takes()
	return float64(tokens) / float64(max(window-max(r.rules.Context.Reserve, r.reply), window/2, 1))
}

// used is the share that the talk takes.
func (r *Run) used() float64 { return r.share(r.tally.of(r.talk.weight())) }

// grow adds a reply and the results of its calls to the talk.
func (r *Run) grow(s *modelReply, results []tools.Result) {
	before := r.talk.weight()
	r.talk.called(s, results)
	r.tally.count(s.usage, before, r.talk.turns[len(r.talk.turns)-1].weight)
	r.pending, r.acts.known = nil, nil
}

// fit makes room before the model is asked, as the rules say. It depends only on them, the window
// and what the run has done. So a run that goes on after a crash comes to the same talk, but for
// secrets, if both are as before. It gives the share that was used.
func (r *Run) fit() (used float64, shortened bool) {
	c := &r.rules.Context
	used = r.used()
	if used >= c.TrimAt {
		shortened = r.talk.trim(c.Keep, r.short)
	}
	if used >= c.CompactAt && r.used() >= c.CompactAt {
		shortened = r.talk.compact(c.Keep) || shortened
	}
	if shortened {
		r.tally.prompt = 0
	}
	return used, shortened
}

// squeeze leaves as little as can be, because the server takes less than was thought: the last
// turn, shortened. It reports whether there was something to leave out.
func (r *Run) squeeze() bool {
	was := r.tally.of(r.talk.weight())
	trimmed := r.talk.trim(0, r.short)
	if !r.talk.compact(1) && !trimmed {
		return false
	}
	r.window = min(r.takes(), was)
	r.tally.prompt = 0
	return true
}

// short is an old result.
func (r *Run) short(tool, text string) string {
	b := r.set.Results.Bounds(ruleset.OfRuns, tool, r.window, len(text))
	text, _ = tools.Trim(text, tools.TrimBounds{Chars: r.rules.Context.TrimTo, Head: b.Head, Hint: b.Hint})
	return text
}

// tooLong is why a request was too long: the server refused it, or has left out some of it
// without a word; "" where it was not.
func (r *Run) tooLong(s *modelReply, err error) string {
	var failed *openai.Error
	switch {
	case err == nil && r.tally.dropped(s.usage):
		return "the server has left out some of the messages, and did not say so"
	case errors.As(err, &failed) && failed.Code == openai.OverflowCode:
		return failed.Message
	}
	return ""
}

// dropped reports whether a request that is longer than the one before took fewer tokens. Less
// than half is a server that does not count what it had cached.
func (t *tally) dropped(u usage) bool {
	return t.prompt > 0 && u.prompt < t.prompt && u.prompt >= t.prompt/2
}

// percent is a share for people.
func percent(share float64) float64 { return math.Round(share*1000) / 10 }
