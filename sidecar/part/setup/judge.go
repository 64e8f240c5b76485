package setup

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// differs returns how an answer differs from the wanted one, or nil.
func (a answer) differs(want answer) error {
	if leak := a.leak(); leak != "" {
		return fmt.Errorf("%s has leaked", leak)
	}
	if is, should := a.outcome(), want.outcome(); is != should {
		return fmt.Errorf("this should be %s, and is %s", should, is)
	}
	return nil
}

var callID = regexp.MustCompile(`^[A-Za-z0-9]{1,40}$`) // OpenClaw rewrites every other id

// outcome returns what a gateway uses of an answer. Only the meaning of arguments counts, and of ids only
// whether OpenClaw keeps them.
func (a answer) outcome() string {
	if a.fault != "" {
		return a.failure()
	}
	out, finish := fmt.Sprintf("the text %q", a.text), "stop"
	for _, c := range a.calls {
		finish = "tool_calls"
		out += fmt.Sprintf(" and the call %s %s", c.Name, meaning(c.Args))
		if !callID.MatchString(c.ID) {
			out += fmt.Sprintf(" with the id %q, which OpenClaw rewrites", c.ID)
		}
	}
	if a.finish != finish {
		out += fmt.Sprintf(" with the finish_reason %q", a.finish)
	}
	return out
}

// failure formats an error for people.
func (a answer) failure() string {
	if a.status == http.StatusOK {
		return "error in the stream: " + a.fault
	}
	return fmt.Sprintf("HTTP %d: %s", a.status, a.fault)
}

// meaning returns JSON in a canonical form.
func meaning(args string) string {
	var v any
	if json.Unmarshal([]byte(args), &v) != nil {
		return args + " (which is no JSON)"
	}
	sorted, _ := json.Marshal(v) // decoded JSON can be encoded
	return string(sorted)
}

// leak returns markup that no caller should see, or "".
func (a answer) leak() string {
	all := a.text + a.reasoning
	for _, c := range a.calls {
		all += c.Name + c.Args
	}
	for _, markup := range []string{"<|", "assistantcommentary", "to=functions."} {
		if strings.Contains(all, markup) {
			return markup
		}
	}
	return ""
}

// openClawResult describes what OpenClaw makes of an answer, as observed with OpenClaw 2026.9.
func (a answer) openClawResult() string {
	switch {
	case a.fault != "" && a.status == http.StatusBadRequest:
		return "OpenClaw shows the error, and the turn is over"
	case a.fault != "":
		return "OpenClaw sends the same again, for up to 90 s"
	case len(a.calls) > 0:
		return a.calls[0].fate()
	case a.text != "":
		return "the user is shown this, and nothing runs"
	case a.reasoning != "":
		return "no answer: OpenClaw asks for one, and the call is lost"
	}
	return "no answer: OpenClaw asks once more, then the turn fails"
}

func (c call) fate() string {
	var args map[string]any
	takes, offered := toolbox()[c.Name]
	switch {
	case !offered:
		return "OpenClaw finds no such tool"
	case json.Unmarshal([]byte(c.Args), &args) != nil:
		return "not a JSON object: OpenClaw drops the reply, and asks again without a word why"
	case !slices.Equal(slices.Sorted(maps.Keys(args)), takes):
		return "OpenClaw refuses the arguments"
	}
	return "runs"
}
