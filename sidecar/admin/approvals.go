package admin

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

const (
	maxApprovalWait = 25 * time.Second // of a long poll; the listener's timeouts are longer
	maxListedText   = 200              // characters of a call in the list
	// MaxAnswerText bounds a person's name or reason, in bytes: 500 characters of any kind.
	MaxAnswerText = 2000
)

// Approvals is a list of questions to a person, oldest first.
type Approvals struct {
	Revision  uint64           `json:"revision"` // every change of a state is a new one
	Approvals []ListedApproval `json:"approvals"`
}

// ListedApproval is a question in one line, with recognisable secrets masked.
type ListedApproval struct {
	ID        string          `json:"id"`
	State     approvals.State `json:"state"`
	Tool      string          `json:"tool"`
	Text      string          `json:"text"` // the command, or the arguments
	Rule      string          `json:"rule,omitempty"`
	Why       string          `json:"why,omitempty"`
	Session   string          `json:"session,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Model     string          `json:"model,omitempty"`
	Asked     time.Time       `json:"asked"`
	Until     time.Time       `json:"until"`
	Remaining float64         `json:"left_seconds"` // until then, by the server's clock
	By        string          `json:"by,omitempty"`
	Note      string          `json:"note,omitempty"`
	For       approvals.Span  `json:"for,omitempty"`    // of a grant
	Covers    []string        `json:"covers,omitempty"` // by it
}

// Approval is a question with everything needed for an answer, unmasked.
type Approval struct {
	approvals.Entry
	// Shown is the command or the arguments, with invisible characters written as ⟨U+202E⟩.
	Shown string `json:"shown"`
	// Foreign are its characters beyond ASCII, which may look like others: а U+0430.
	Foreign   []string `json:"foreign,omitempty"`
	Remaining float64  `json:"left_seconds"`
	// Covers describes what a grant covers or would cover; empty: it can only be allowed once.
	Covers []string `json:"covers,omitempty"`
}

// needToken serves approvals only if a token is set. The agent that they are about may run on this machine,
// where a listener without a token is open to it.
func (a *API) needToken(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if a.Token == "" {
			return Refuse(http.StatusForbidden,
				"approvals need a token: without one, the agent could answer for you",
				"set GPTOSS_EXECUTOR_ADMIN_TOKEN where the server starts, and send it with: Authorization: Bearer TOKEN")
		}
		return h(w, r)
	}
}

// approvals lists the questions. With ?wait=20s it waits for a list other than ?since=REVISION; without
// since, for the next change.
func (a *API) approvals(w http.ResponseWriter, r *http.Request) error {
	list, revision, changed := a.Approvals.List()
	query := r.URL.Query()
	if wait := query.Get("wait"); wait != "" {
		d, err := time.ParseDuration(wait)
		if err != nil || d < 0 {
			return Refuse(http.StatusBadRequest, "wait is a time such as 20s",
				fmt.Sprintf("at most %s", maxApprovalWait))
		}
		since := cmp.Or(query.Get("since"), strconv.FormatUint(revision, 10))
		if since == strconv.FormatUint(revision, 10) {
			a.await(r, changed, min(d, maxApprovalWait))
			list, revision, _ = a.Approvals.List()
		}
	}
	out := Approvals{Revision: revision, Approvals: []ListedApproval{}}
	for _, e := range list {
		out.Approvals = append(out.Approvals, a.listedApproval(&e))
	}
	web.WriteJSON(w, http.StatusOK, out)
	return nil
}

// await waits for a change, the caller's leaving or the end of the time.
func (a *API) await(r *http.Request, changed <-chan struct{}, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-r.Context().Done():
	case <-a.Ending:
	}
}

func (a *API) listedApproval(e *approvals.Entry) ListedApproval {
	text, _ := secrets.Mask(subjectOf(e.Call))
	text = strings.ReplaceAll(approvals.Visible(text), "\n", " ⏎ ")
	if long := []rune(text); len(long) > maxListedText {
		text = string(long[:maxListedText]) + "…"
	}
	return ListedApproval{
		ID: e.ID, State: e.State, Tool: e.Call.Tool, Text: text, Rule: e.Reason.Rule, Why: e.Reason.Why,
		Session: e.Call.Session, Agent: e.Call.Agent, Model: e.Call.Model,
		Asked: e.Asked, Until: e.Until, Remaining: a.Approvals.Remaining(e).Seconds(), By: e.By, Note: e.Note,
		For: e.For, Covers: grantCovers(e),
	}
}

// grantCovers is Covers of a grant.
func grantCovers(e *approvals.Entry) []string {
	if e.For == approvals.Once {
		return nil
	}
	return Covers(e)
}

// Covers describes the calls that a grant allows, a line for each reason to ask.
func Covers(e *approvals.Entry) (out []string) {
	for _, r := range e.Reason.All {
		covers, rule := cmp.Or(r.Covers, "exactly this call"), cmp.Or(r.Rule, "default")
		out = append(out, fmt.Sprintf("%s (rule %s)", approvals.Visible(covers), rule))
	}
	return out
}

// subjectOf returns the command of a call, or its arguments.
func subjectOf(c approvals.Call) string { return cmp.Or(c.Command, c.Arguments) }

func (a *API) approval(w http.ResponseWriter, r *http.Request) error {
	e, err := a.Approvals.Get(r.PathValue("id"))
	return a.writeApproval(w, r, e, err)
}

// allow allows the call once, or with others like it.
func (a *API) allow(w http.ResponseWriter, r *http.Request) error {
	return a.allowWith(w, r, a.Approvals.Allow)
}

// use allows the call once, now: a gateway has asked the person and runs it.
func (a *API) use(w http.ResponseWriter, r *http.Request) error {
	return a.allowWith(w, r, a.Approvals.Use)
}

func (a *API) allowWith(w http.ResponseWriter, r *http.Request,
	allow func(id, by string) (approvals.Entry, error)) error {
	verdict, err := readVerdict(r)
	if err != nil {
		return err
	}
	e, err := a.allowOrGrant(r.PathValue("id"), verdict.By, verdict.For, allow)
	return a.writeApproval(w, r, e, err)
}

// end ends a grant.
func (a *API) end(w http.ResponseWriter, r *http.Request) error {
	verdict, err := readVerdict(r)
	if err != nil {
		return err
	}
	e, err := a.End(r.PathValue("id"), verdict.By)
	return a.writeApproval(w, r, e, err)
}

// End ends a grant. The error says for people why nothing has changed.
func (a *API) End(id, by string) (approvals.Entry, error) {
	e, err := a.Approvals.End(id, by)
	if e.ID != "" {
		a.recordAnswer(e)
	}
	if refusal := approvalError(id, err); refusal != nil {
		return e, refusal
	}
	return e, err
}

// errStale means that rules no longer in force asked the question.
var errStale = errors.New("it was asked by rules that are no longer in force")

// Stale reports whether other rules than those in force asked a question, so that nothing can allow it.
func (a *API) Stale(e *approvals.Entry) bool {
	return e.State == approvals.Pending && e.Call.Policy != a.Rules.Set().Version
}

// allowOrGrant allows a call that the rules in force asked about, once or with others for a span.
func (a *API) allowOrGrant(id, by string, span approvals.Span,
	once func(id, by string) (approvals.Entry, error)) (approvals.Entry, error) {
	e, err := a.Approvals.Get(id)
	switch {
	case err != nil:
		return e, err
	case a.Stale(&e):
		return e, errStale
	}
	if span == approvals.Once {
		e, err = once(e.ID, by)
	} else {
		e, err = a.Approvals.Grant(e.ID, by, span)
	}
	if err == nil {
		a.recordAnswer(e)
	}
	return e, err
}

// deny denies the call and tells the model why.
func (a *API) deny(w http.ResponseWriter, r *http.Request) error {
	verdict, err := readVerdict(r)
	if err != nil {
		return err
	}
	e, err := a.refuse(r.PathValue("id"), verdict.By, verdict.Why)
	return a.writeApproval(w, r, e, err)
}

func (a *API) refuse(id, by, why string) (approvals.Entry, error) {
	e, err := a.Approvals.Deny(id, by, why)
	if err == nil {
		a.recordAnswer(e)
	}
	return e, err
}

// Answer answers a question as a person on a page does: allow allows the call once or for a span. The error
// says for people why nothing has changed.
func (a *API) Answer(id string, allow bool, span approvals.Span, by, why string) (approvals.Entry, error) {
	e, err := approvals.Entry{}, error(nil)
	if allow {
		e, err = a.allowOrGrant(id, by, span, a.Approvals.Allow)
	} else {
		e, err = a.refuse(id, by, why)
	}
	if refusal := approvalError(id, err); refusal != nil {
		return e, refusal
	}
	return e, err
}

// recordAnswer logs who has answered.
func (a *API) recordAnswer(e approvals.Entry) {
	a.Log.Info("a person has answered", "event", "approval_"+string(e.State), "id", e.ID, "tool", e.Call.Tool,
		"rule", e.Reason.Rule, "by", e.By, "session", e.Call.Session)
	answer := decisions.Answer{ID: e.ID, State: string(e.State), By: e.By, Note: e.Note, For: string(e.For)}
	if e.State == approvals.Granted {
		answer.Until, answer.Covers = e.Until, e.Reason.All
	}
	if err := a.Decisions.AddAnswer(answer); err != nil {
		a.Log.Error("the answer of a person cannot be logged", "event", "decisions_required", "id", e.ID,
			"detail", err.Error())
	}
}

// verdict is what a person adds to yes or no.
type verdict struct {
	By  string         `json:"by"` // a claim, for the log: only the token proves something
	Why string         `json:"why"`
	For approvals.Span `json:"for"` // of yes
}

func readVerdict(r *http.Request) (v verdict, err error) {
	if err := ReadJSON(r, &v); err != nil {
		return v, err
	}
	v.By = cmp.Or(approvals.Visible(v.By), "the admin API")
	return v, CheckAnswer(v.By, v.Why)
}

// CheckAnswer rejects texts that are too long for the log.
func CheckAnswer(by, why string) error {
	if len(by) > MaxAnswerText || len(why) > MaxAnswerText {
		return Refuse(http.StatusBadRequest, fmt.Sprintf("by and why have at most %d bytes each",
			MaxAnswerText), "")
	}
	return nil
}

// writeApproval answers with an entry, or says why it could not be answered.
func (a *API) writeApproval(w http.ResponseWriter, r *http.Request, e approvals.Entry, err error) error {
	if refusal := approvalError(r.PathValue("id"), err); refusal != nil {
		return refusal
	}
	if err != nil {
		return err
	}
	web.WriteJSON(w, http.StatusOK, a.shownApproval(&e))
	return nil
}

// shownApproval returns a question as a person sees it.
func (a *API) shownApproval(e *approvals.Entry) Approval {
	text := subjectOf(e.Call)
	return Approval{Entry: *e, Shown: approvals.Visible(text), Foreign: approvals.Foreign(text),
		Remaining: a.Approvals.Remaining(e).Seconds(), Covers: Covers(e)}
}

// approvalError says why a question could not be answered; nil: it was, or for another reason.
func approvalError(id string, err error) *Error {
	var late *approvals.AnsweredError
	switch {
	case errors.Is(err, errStale):
		return Refuse(http.StatusConflict, id+" was asked by rules that are no longer in force",
			"if the model sends the call again, it is judged again, and asks again if it must")
	case errors.Is(err, approvals.ErrWide):
		return Refuse(http.StatusConflict, err.Error(), "nothing was changed; without for it is allowed once")
	case errors.Is(err, approvals.ErrUnknown):
		return Refuse(http.StatusNotFound, fmt.Sprintf("there is no approval %q", id),
			"GET /approvals, or gpt-oss-executor approvals list, shows them; a restart forgets all, and old ones expire")
	case errors.Is(err, approvals.ErrAway):
		return Refuse(http.StatusServiceUnavailable, err.Error(),
			"nothing was changed; try again when the server of the setting shared is back")
	case errors.As(err, &late):
		return Refuse(http.StatusConflict, late.Error(), "nothing was changed; "+nextStep(late.Entry.State))
	}
	return nil
}

// nextStep says what can be done after an answer that came too late.
func nextStep(s approvals.State) string {
	switch s {
	case approvals.Allowed:
		return "the call passes once when the model sends it again; deny takes this back"
	case approvals.Granted:
		return "end takes this back"
	case approvals.Denied:
		return "the same call can ask again when the denial has expired"
	}
	return "if the model sends the call again, it asks again"
}
