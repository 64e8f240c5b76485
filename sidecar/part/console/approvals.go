package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxReason is the maximal length of a reason, in characters; so is that of its field.
const maxReason = 500

// approvalsView shows the calls that wait for a person, and recent answers.
type approvalsView struct {
	State    string // identifies the list, for events
	Possible bool   // the server can ask a person
	May      bool   // the viewer may answer
	Waiting  []approvalView
	Granted  []approvalView // current grants
	Past     []approvalView
	Notice   string // what the viewer has just done
}

// approvalView shows one call: in full to viewers who may answer, masked to others.
type approvalView struct {
	ID, Tool, State, Session, Agent, Model string
	Before, About, After                   []callPart // of the command; About made the rules ask
	Foreign                                []string
	Hidden                                 bool // it holds invisible characters
	Masked                                 bool
	Stale                                  bool // it can only be denied
	Cwd, Rule, Place, Why, Instead         string
	Facts                                  []guard.FactLine
	Files                                  []approvals.File
	Asked                                  time.Time
	Times                                  int
	Remaining                              time.Duration
	By, Note                               string
	For                                    string
	Covers                                 []string         // calls that a grant allows
	Spans                                  []approvals.Span // of a possible grant
	Log                                    string           // page of its decisions; empty: none
}

func (c *Console) approvalsPage(r *http.Request, v viewer) (any, error) {
	out := &approvalsView{State: c.waitingState(), Possible: c.API.Approvals != nil && c.API.Token != "",
		May: v.Role >= web.Approver}
	if !out.Possible {
		return out, nil
	}
	list, _, _ := c.API.Approvals.List()
	for i := range list {
		e := &list[len(list)-1-i]
		switch {
		case e.State == approvals.Pending:
			out.Waiting = append([]approvalView{c.approval(e, out.May)}, out.Waiting...) // oldest first
		case e.State == approvals.Granted:
			out.Granted = append(out.Granted, c.approval(e, out.May))
		case len(out.Past) < maxRows:
			out.Past = append(out.Past, c.approval(e, out.May))
		}
	}
	if id := r.URL.Query().Get("answered"); id != "" {
		if e, err := c.API.Approvals.Get(id); err == nil && e.State != approvals.Pending {
			out.Notice = fmt.Sprintf("%s is %s.", e.ID, e.State)
		}
	}
	return out, nil
}

func (c *Console) approval(e *approvals.Entry, whole bool) approvalView {
	say := shown
	if whole {
		say = approvals.Visible
	}
	k, why := &e.Call, &e.Reason
	v := approvalView{
		ID: e.ID, Tool: say(k.Tool), State: string(e.State), Session: say(k.Session), Agent: say(k.Agent),
		Model: say(k.Model), Masked: !whole, Stale: c.API.Stale(e),
		Cwd: say(k.Cwd), Rule: why.Rule, Place: why.Place, Why: say(why.Why), Instead: say(why.Instead),
		Files: k.Files,
		Asked: e.Asked, Times: e.Times, Remaining: c.API.Approvals.Remaining(e), By: say(e.By),
		Note: say(e.Note), For: e.For.Words(),
	}
	for _, line := range admin.Covers(e) {
		v.Covers = append(v.Covers, say(line))
	}
	for _, span := range approvals.Spans() {
		if e.May(span) == nil {
			v.Spans = append(v.Spans, span)
		}
	}
	if c.Decisions != "" {
		v.Log = logHref("q", e.ID)
	}
	text := k.Command
	if text == "" {
		text = k.Arguments
	}
	v.Foreign, v.Hidden = approvals.Foreign(text), approvals.Visible(text) != text
	if from, to := why.Start, why.End; k.Command != "" && whole && 0 <= from && from < to && to <= len(text) {
		v.Before, v.About, v.After = partsOf(text[:from]), partsOf(text[from:to]), partsOf(text[to:])
	} else if whole {
		v.Before = partsOf(text)
	} else {
		v.Before = []callPart{{Text: say(text)}}
	}
	if e.State == approvals.Pending && json.Valid([]byte(k.Arguments)) {
		set := c.API.Rules.Set()
		who := policy.Subject{Model: k.Model, Agent: k.Agent, Session: k.Session, Interactive: true}
		explained := c.API.World.WithFolder(set, k.Cwd).ExplainCall(set,
			tools.Call{Name: k.Tool, Arguments: json.RawMessage(k.Arguments), Strategy: "native",
				Confidence: 1}, who, false)
		v.Facts = guard.FactLines(explained.Decision.Facts, say)
	}
	return v
}

// callPart is a part of the text of a call. Beyond describes its characters outside of ASCII; Text then has
// no others.
type callPart struct{ Text, Beyond string }

func partsOf(text string) (out []callPart) {
	for i, s := range approvals.Parts(text) {
		p := callPart{Text: approvals.Visible(s)}
		if i%2 == 1 {
			p.Beyond = strings.Join(approvals.Foreign(s), ", ")
		}
		out = append(out, p)
	}
	return out
}

// answer allows a call once or for a span, denies it, or ends a grant.
func (c *Console) answer(w http.ResponseWriter, r *http.Request, v viewer) error {
	verb, why, id := r.PostForm.Get("answer"), r.PostForm.Get("why"), r.PathValue("id")
	switch {
	case c.API.Approvals == nil:
		return &trouble{http.StatusNotFound, "No person can be asked here", "Approvals need an admin token."}
	case verb != "allow" && verb != "deny" && verb != "end":
		return &trouble{http.StatusBadRequest, "That is no answer",
			"An answer is allow, deny or end. Nothing was changed."}
	case utf8.RuneCountInString(why) > maxReason:
		return &trouble{http.StatusBadRequest, "The reason is too long",
			fmt.Sprintf("It may have %d characters. Nothing was changed.", maxReason)}
	}
	var err error
	if verb == "end" {
		_, err = c.API.End(id, v.By())
	} else {
		_, err = c.API.Answer(id, verb == "allow", approvals.Span(r.PostForm.Get("for")), v.By(), why)
	}
	var refusal *admin.Error
	if errors.As(err, &refusal) {
		hint := refusal.Hint
		if refusal.Status() == http.StatusNotFound {
			hint = "The page Approvals shows those that wait. A restart forgets all, and old ones expire"
		}
		return &trouble{refusal.Status(), "The answer came too late, or there is no such question",
			shown(refusal.Message) + ". " + hint + "."}
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, Root+"approvals?answered="+url.QueryEscape(id), http.StatusSeeOther)
	return nil
}

// waiting counts the calls that wait for a person.
func (c *Console) waiting() (n int) {
	if c.API.Approvals == nil {
		return 0
	}
	list, _, _ := c.API.Approvals.List()
	for i := range list {
		if list[i].State == approvals.Pending {
			n++
		}
	}
	return n
}

// waitingState changes whenever the list of waiting calls does, or the answers that they take.
func (c *Console) waitingState() string {
	if c.API.Approvals == nil {
		return `{"waiting":0,"revision":0}`
	}
	_, revision, _ := c.API.Approvals.List()
	return fmt.Sprintf(`{"waiting":%d,"revision":%d,"rules":%q}`, c.waiting(), revision,
		c.API.Rules.Set().Version)
}
