package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// check says what is wrong with an answer, if anything.
func (w want) check(a answer) error {
	if leak := a.leak(); leak != "" {
		return fmt.Errorf("%s has leaked", leak)
	}
	switch {
	case w.code != "":
		return w.checkFault(a)
	case a.fault != nil:
		return fmt.Errorf("an error arrived: %s", a.fault.Message)
	case a.text != w.text:
		return fmt.Errorf("the text should be %q", w.text)
	case w.call == nil && len(a.calls) > 0:
		return errors.New("a call was made of it")
	case w.call != nil:
		return w.checkCall(a)
	case a.finish != "stop":
		return fmt.Errorf("finish_reason is %q", a.finish)
	}
	return nil
}

var callID = regexp.MustCompile(`^[A-Za-z0-9]{1,40}$`) // OpenClaw rewrites every other id

func (w want) checkCall(a answer) error {
	if len(a.calls) != 1 {
		return fmt.Errorf("%d calls arrived", len(a.calls))
	}
	c := a.calls[0]
	switch {
	case c.Name != w.call.Name || !same(c.Args, w.call.Args):
		return fmt.Errorf("the call should be %s %s", w.call.Name, w.call.Args)
	case !callID.MatchString(c.ID):
		return fmt.Errorf("OpenClaw would rewrite the call id %q", c.ID)
	case a.finish != "tool_calls":
		return fmt.Errorf("finish_reason is %q", a.finish)
	}
	return nil
}

func (w want) checkFault(a answer) error {
	if a.fault == nil {
		return errors.New("no error arrived")
	}
	if a.fault.Code != w.code || a.fault.Status != http.StatusBadRequest || !strings.Contains(a.fault.Message, w.says) {
		return fmt.Errorf("the error should be 400 %s: %s…", w.code, w.says)
	}
	return nil
}

func same(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// leak is markup that a caller should never see, or "".
func (a answer) leak() string {
	for _, markup := range []string{"<|", "assistantcommentary", "to=functions."} {
		all := a.text + a.reasoning
		for _, c := range a.calls {
			all += c.Name + c.Args
		}
		if strings.Contains(all, markup) {
			return markup
		}
	}
	return ""
}

// fate is what OpenClaw makes of an answer. Found by running OpenClaw 2026.9
// against such answers.
func (a answer) fate() string {
	switch {
	case a.fault != nil && a.fault.Status == http.StatusBadRequest:
		return "OpenClaw shows the error, and the turn is over"
	case a.fault != nil:
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
	takes, ok := toolbox()[c.Name]
	if !ok {
		return "OpenClaw finds no such tool"
	}
	var args map[string]any
	if json.Unmarshal([]byte(c.Args), &args) != nil {
		return "not a JSON object: OpenClaw drops the reply, and asks again without a word why"
	}
	if !slices.Equal(slices.Sorted(maps.Keys(args)), takes) {
		return "OpenClaw refuses the arguments"
	}
	return "runs"
}
