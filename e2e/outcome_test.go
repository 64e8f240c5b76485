package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// outcome is what came of a trial.
type outcome struct {
	answer
	err     error
	took    time.Duration
	asked   int  // requests to the model server
	ran     int  // how often the call ran
	thought bool // the last request has the thought in it
	off     bool // the next turn through the same provider failed
}

// markup is what no user should read.
var markup = regexp.MustCompile(`<\||to=(functions\.)?[a-z]|\bassistant ?(commentary|analysis|final)\b|analysis.*assistant|"(command|arguments|tool_calls)":|\[TOOL:|\[exec\]|Action Input|</?think>|^(final|analysis|commentary)\b`)

// content is the first text that the model says.
func (c *trial) content() string {
	says := c.says(c.args())
	return says[slices.IndexFunc(says, func(r script.Reply) bool { return r.Content != "" })].Content
}

// words say what came of a trial, in few words, which the page explains.
func (c *trial) words() string {
	o, out := c.out, []string{}
	say := func(when bool, words string) {
		if when {
			out = append(out, words)
		}
	}
	failed := o.err != nil || o.status != http.StatusOK
	shown := strings.ReplaceAll(o.text, "\u200b", "")
	want := theAnswer
	if c.shown && (c.alone || !c.copied) {
		want = c.content()
	}
	good := shown == want || c.copied && strings.HasSuffix(shown, want)
	say(c.shown && o.ran > 0, "ran an injection")
	say(c.shown && o.ran == 0 && !failed && !good, "text lost")
	say(!c.shown && o.ran > c.runs, fmt.Sprintf("ran %d times", o.ran))
	say(o.ran < c.runs, "call lost")
	say(!c.shown && markup.MatchString(shown), "markup shown")
	say(c.kind != ofThoughts && strings.Contains(shown, theThought), "thought shown")
	say(c.thought && !o.thought && !failed, "thought lost")
	reason := failed && c.reads != "" && strings.Contains(o.raw, c.reads)
	say(failed && !reason, "error shown")
	say(reason, "error with the reason")
	say(o.off, "provider off")
	turns := c.turns
	if turns == 0 {
		turns = 1 + min(c.runs, 1)
	}
	switch {
	case len(out) > 0:
	case good && o.asked > turns:
		return "asked again, answered"
	case good && c.reads == "":
		return "answered"
	case c.reads != "" && strings.Contains(shown, c.reads):
		return "told why"
	case strings.TrimSpace(shown) == "":
		return "nothing"
	default:
		return "other words"
	}
	return strings.Join(out, ", ")
}
