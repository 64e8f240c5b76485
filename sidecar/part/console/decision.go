package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
)

// fact is a name and a value, which may be a link.
type fact struct{ Name, Value, Href string }

// decisionView shows one record of the log.
type decisionView struct {
	Seq             uint64
	Kind, Time      string
	Effect, Outcome string // of a decision or a connection
	Tool            string
	Loose           bool // not enforced
	Rule, Place     string
	Why, Instead    string
	Findings        []policy.Finding
	Arguments       string
	Masked, Bytes   int
	Facts           []fact
	Judged          *judgedView // by the rules of that time
	Unjudged        string      // why Judged is missing or differs
	Answer          *answerView
	Links           []fact
	Hash, Prev      string
	Trouble         []string // mistakes in the chain
	First           bool
	Earlier, Later  string
	Words           bool
}

// answerView shows a person's answer.
type answerView struct{ State, By, Note, Time, Href string }

func (d *decisionView) title() string { return fmt.Sprintf("%s %d", d.Kind, d.Seq) }

func seqOf(text string) (uint64, error) {
	seq, err := strconv.ParseUint(text, 10, 63)
	if err != nil || seq == 0 {
		return 0, &trouble{http.StatusNotFound, "There is no such record",
			"The records of the log are numbered 1, 2, 3 …"}
	}
	return seq, nil
}

func (c *Console) decisionPage(r *http.Request, _ viewer) (any, error) {
	seq, err := seqOf(r.PathValue("seq"))
	if err != nil {
		return nil, err
	}
	if c.Decisions == "" {
		return nil, noLog
	}
	found, err := decisions.Find(c.Decisions, seq)
	if errors.Is(err, decisions.ErrUnknown) || errors.Is(err, fs.ErrNotExist) {
		return nil, &trouble{http.StatusNotFound, "There is no such record",
			fmt.Sprintf("The log has no record %d: it was removed with the oldest ones, cannot be read, or was not written yet. Verify says whether the log is whole.", seq)}
	}
	if err != nil {
		return nil, logError(err)
	}
	v := &decisionView{
		Seq: seq, Kind: "Record", Time: stamp(found.Time), Hash: found.Hash.String(),
		Prev: found.Prev.String(), First: found.First, Words: c.words(),
		Later: fmt.Sprintf("%sdecisions/%d", Root, seq+1),
	}
	if !found.First {
		v.Earlier = fmt.Sprintf("%sdecisions/%d", Root, seq-1)
	}
	if found.Broken != nil {
		v.Trouble = append(v.Trouble, "What stands here is not what was written: "+
			shown(found.Broken.Error())+".")
	}
	if found.Place != "" {
		v.Trouble = append(v.Trouble, "Its place in the chain is wrong: "+shown(found.Place)+".")
	}
	switch {
	case found.Decision != nil:
		c.decision(r.Context(), v, found)
	case found.Connection != nil:
		c.connection(v, found.Connection)
	default:
		showOther(v, &found.Record, c.words())
	}
	return v, nil
}

// text masks what a model or a user wrote, or hides it if words are not shown.
func (c *Console) text(s string) string {
	if !c.words() {
		return ""
	}
	return shown(s)
}

// decision fills in the decision about a call.
func (c *Console) decision(ctx context.Context, v *decisionView, found *decisions.Found) {
	d := found.Decision
	v.Kind, v.Effect, v.Outcome, v.Loose = "Decision", string(d.Effect), string(d.Outcome), !d.Enforced
	v.Tool, v.Rule, v.Place, v.Masked, v.Bytes = shown(d.Tool), d.RuleName(), d.Place, d.Masked, d.Bytes
	v.Why, v.Instead, v.Findings = c.text(d.Why), c.text(d.Instead), c.findings(d.Findings)
	if c.words() {
		v.Arguments = shorten(shownJSON(d.Arguments))
	}
	same := func(name, value, key string) {
		if value != "" {
			v.Facts = append(v.Facts,
				fact{name, shown(value), logHref(key, value)})
		}
	}
	plain := func(name, value string) {
		if value != "" {
			v.Facts = append(v.Facts, fact{name, shown(value), ""})
		}
	}
	same("Session", d.Session, "session")
	same("Agent", d.Agent, "agent")
	plain("Class", d.Class)
	plain("Channel", d.Channel)
	plain("Model", d.Model)
	same("Request", d.Request, "q")
	plain("Call", d.Call)
	same("Approval", d.Approval, "q")
	plain("Allowed by a grant for", d.Grant)
	plain("Works in", cmp.Or(d.Cwd, strings.Join(d.Workspace, ", ")))
	plain("A person could answer", map[bool]string{true: "yes", false: "no"}[d.Interactive])
	plain("Read by", d.Strategy)
	plain("Rules", d.Rules)
	plain("Arms", strings.Join(d.Arms, " "))
	if d.Took > 0 {
		plain("Took", duration(d.Took))
	}
	if t, ok := c.Turns.Turn(d.Request); ok {
		v.Links = append(v.Links, fact{"", "The turn of " + t.Began.Format("15:04:05") + " in Live",
			Root + "turns/" + url.PathEscape(t.ID)})
	}
	if d.Run && c.Runs != nil && isRun(d.Request) {
		v.Links = append(v.Links, fact{"", "The run, turn by turn", Root + "runs/" + d.Request})
	}
	c.judge(v, found)
	ctx, done := context.WithTimeout(ctx, listTime)
	defer done()
	if a, err := decisions.AnswerTo(ctx, c.Decisions, &found.Record); err == nil && a != nil {
		v.Answer = &answerView{a.Answer.State, shown(a.Answer.By), c.text(a.Answer.Note), stamp(a.Time),
			fmt.Sprintf("%sdecisions/%d", Root, a.Seq)}
	}
}

func (c *Console) findings(list []policy.Finding) (out []policy.Finding) {
	for _, f := range list {
		f.Why = c.text(f.Why)
		out = append(out, f)
	}
	return out
}

// judge evaluates the rules of that time again, since the log does not keep the terms of their conditions.
func (c *Console) judge(v *decisionView, found *decisions.Found) {
	d := found.Decision
	set := c.API.Rules.Of(d.Rules)
	switch {
	case !c.words():
		v.Unjudged = "No words are shown: the setting console says no-text, or limits.yaml has words: 0."
	case found.Broken != nil:
		v.Unjudged = "What stands here was changed, so no rule is asked about it."
	case !d.Judgeable():
		v.Unjudged = "The log does not have all of its arguments, so no rule can be asked again."
	case set == nil:
		v.Unjudged = "The rules of then are not kept any more, so the parts of their conditions are not known. A state folder keeps the last 20 versions."
	default:
		e := c.API.World.ExplainLogged(set.Under(d.Arms), &found.Record)
		judged := judgedOf(e)
		v.Judged = &judged
		if now := cmp.Or(e.Decision.Effect, policy.Allow); now != d.Effect {
			v.Unjudged = "It comes out otherwise than then: what its session did before is not known now, secrets are masked, and files may have changed."
		}
	}
}

// connection fills in the decision about a connection of a confined command.
func (c *Console) connection(v *decisionView, k *decisions.Connection) {
	v.Kind, v.Effect, v.Outcome, v.Tool, v.Rule, v.Place, v.Why = "Connection", string(k.Effect),
		string(k.Outcome), shown(k.Tool), cmp.Or(k.Rule, "default"), k.Place, c.text(k.Why)
	v.Findings = c.findings(k.Findings)
	v.Facts = []fact{{"Server", c.text(k.Server), ""}, {"Address", shown(k.Address), ""},
		{"Method", shown(k.Method), ""}, {"Command", shown(k.Ticket), logHref("q", k.Ticket)},
		{"Session", shown(k.Session), logHref("session", k.Session)}, {"Agent", shown(k.Agent), ""}, {"Rules", k.Rules, ""}}
	if k.Times > 0 {
		v.Facts = append(v.Facts, fact{"Connections", fmt.Sprintf("%d, %s sent, %s received", k.Times,
			size(k.Sent), size(k.Received)), ""})
	}
}

// showOther fills in a record without a decision.
func showOther(v *decisionView, r *decisions.Record, words bool) {
	add := func(name, value string) { v.Facts = append(v.Facts, fact{name, shown(value), ""}) }
	switch {
	case r.Answer != nil:
		v.Kind, v.Outcome = "Answer", r.Answer.State
		v.Facts = append(v.Facts, fact{"Approval", shown(r.Answer.ID),
			logHref("q", r.Answer.ID)})
		add("By", r.Answer.By)
		if r.Answer.For != "" {
			add("For", r.Answer.For)
		}
		if words {
			add("Note", r.Answer.Note)
		}
	case r.Start != nil:
		v.Kind = "Start"
		add("Meaning", "a process began to write")
		if r.Start.AfterHead > 0 {
			add("After the head", terminal.Count(int(r.Start.AfterHead), "record")+" of the process before")
		}
		if a := r.Start.Aside; a != nil {
			add("Set aside", fmt.Sprintf("%d bytes that a crash left, in %s", a.Bytes, a.File))
		}
	case r.Gap != nil:
		v.Kind = "Gap"
		add("Meaning", fmt.Sprintf("%d records could not be written", r.Gap.Lost))
		add("Why", r.Gap.Why)
	case r.Removed != nil:
		v.Kind = "Removal"
		add("Meaning", fmt.Sprintf("retention removed all records up to %d", r.Removed.Seq))
	case r.Signature != nil:
		v.Kind = "Signature"
		add("Meaning", "an earlier version of this program signed the chain; that is no longer checked")
	}
	v.Facts = append(v.Facts, fact{"Time", r.Time.Local().Format(time.RFC3339Nano), ""})
}
