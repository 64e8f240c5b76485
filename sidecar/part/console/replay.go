package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

const (
	draftFile   = "exec.yaml"
	maxReplay   = 512 << 10        // bytes of a form with a draft
	workTime    = 10 * time.Second // of a replay or a check of the log
	maxReplayed = 5_000            // decisions
	maxChanges  = 200              // that a page shows
)

// replayView shows logged decisions that were decided again.
type replayView struct {
	Log, Words bool
	Filter     addressFilter
	File       string
	Draft      string
	Problems   rulefile.Problems
	Error      string
	Ran        bool
	Drafted    bool // against the draft
	Version    string
	Tally      *decisions.Tally
	Changes    []changeView
	More       int       // changes that are not shown
	Most       int       // decisions at most
	Since      time.Time // older ones were left out; zero: none were
	Short      bool      // rates of sessions may count too little
	Took       time.Duration
}

// changeView shows a decision with another result.
type changeView struct {
	Seq                                                           uint64
	Href, Time, Tool, Brief, Old, OldRule, New, NewRule, Why, Dry string
	Masked                                                        bool
}

// replayPage shows the form; replay handles it.
func (c *Console) replayPage(r *http.Request, v viewer) (any, error) {
	return &replayView{Log: c.Decisions != "", Words: c.words(), Filter: sieveOf(r.URL.Query()),
		File: draftFile, Draft: draftFor(v, c.ruleText(draftFile)), Most: maxReplayed}, nil
}

// replay decides logged calls again by the rules in force, or by a draft of one file. It changes nothing.
func (c *Console) replay(w http.ResponseWriter, r *http.Request, v viewer) error {
	if c.Decisions == "" {
		return noLog
	}
	out := &replayView{Log: true, Words: c.words(), Filter: sieveOf(r.PostForm), File: draftFile,
		Draft: strings.ReplaceAll(r.PostForm.Get("draft"), "\r\n", "\n"), Most: maxReplayed}
	out.Drafted = r.PostForm.Get("against") == "draft"
	f, err := c.filterOf(out.Filter)
	if err != nil {
		return err
	}
	set, status := c.API.Rules.Set(), http.StatusOK
	if out.Drafted {
		var warnings rulefile.Problems
		text := unmaskLines(c.ruleText(draftFile), out.Draft)
		err := c.limited(r, false, func() (err error) {
			set, warnings, err = c.API.Rules.Try(c.API.Rules.Merged(map[string]*string{draftFile: &text}))
			return err
		})
		if err != nil {
			status = http.StatusUnprocessableEntity
			if out.Problems = problemsOf(err); len(out.Problems) == 0 {
				return err
			}
			out.Error = "The draft does not load, so nothing was decided again."
		} else {
			out.Problems = warnings
		}
	}
	if set != nil {
		leave := c.acquireWork()
		if leave == nil {
			return busy
		}
		defer leave()
		if err := c.replayed(r.Context(), out, f, set); err != nil {
			return err
		}
	}
	c.render(w, r, v, status, "replay.html", frame{Title: "Replay", Events: Root + "events", Data: out})
	return nil
}

func (c *Console) replayed(ctx context.Context, out *replayView, f decisions.Filter, set *ruleset.Set) error {
	ctx, done := context.WithTimeout(ctx, workTime)
	defer done()
	began := c.Now()
	short, end := context.WithTimeout(ctx, workTime/2)
	newest, err := decisions.FindNewest(short, c.Decisions, f, maxReplayed)
	end()
	if err != nil {
		return logError(err)
	}
	if out.Short = newest.Short; newest.Cut {
		out.Since = newest.Since
	}
	out.Tally, err = decisions.ReplayNewest(ctx, c.Decisions, f, newest, c.API.World.Decider(set),
		func(change *decisions.Change) {
			if len(out.Changes) == maxChanges {
				copy(out.Changes, out.Changes[1:]) // the newest are shown
				out.Changes = out.Changes[:maxChanges-1]
				out.More++
			}
			out.Changes = append(out.Changes, c.changeView(change))
		})
	if err != nil {
		return logError(err)
	}
	for i, k := 0, len(out.Changes)-1; i < k; i, k = i+1, k-1 { // the newest first
		out.Changes[i], out.Changes[k] = out.Changes[k], out.Changes[i]
	}
	out.Ran, out.Version, out.Took = true, set.Version, c.Now().Sub(began)
	return nil
}

func (c *Console) changeView(k *decisions.Change) changeView {
	v := changeView{
		Seq: k.Seq, Href: fmt.Sprintf("%sdecisions/%d", Root, k.Seq), Time: stamp(k.Time),
		Tool: shown(k.Tool), Brief: c.brief(k.Arguments), Masked: k.Masked > 0,
		Old: string(k.Old), OldRule: k.OldRule, New: string(k.New), NewRule: k.NewRule, Why: c.text(k.Why),
	}
	var dry []string
	for _, f := range k.Findings {
		dry = append(dry, f.Rule)
	}
	v.Dry = strings.Join(dry, ", ")
	return v
}

// verifyView shows the state of the chain.
type verifyView struct {
	Log      bool
	Head     string // that the viewer kept
	Ran      bool
	Report   *decisions.Report
	Keep     string // the head of now
	Problems []breakView
	Took     time.Duration
	Time     time.Duration // that it may take
}

// breakView is a mistake at a place of the log.
type breakView struct {
	Seq              uint64
	Href, Place, Why string
}

func (c *Console) verifyPage(*http.Request, viewer) (any, error) {
	return &verifyView{Log: c.Decisions != "", Time: workTime}, nil
}

// verify checks the chain.
func (c *Console) verify(w http.ResponseWriter, r *http.Request, v viewer) error {
	if c.Decisions == "" {
		return noLog
	}
	out := &verifyView{Log: true, Head: strings.TrimSpace(r.PostForm.Get("head")), Ran: true, Time: workTime}
	var expect []decisions.Checkpoint
	if out.Head != "" {
		at, err := decisions.ParseCheckpoint(out.Head)
		if err != nil {
			return &trouble{http.StatusBadRequest, "This is no head",
				"A head is SEQ:HASH, as decisions head prints it, and as this page shows it. Nothing was checked."}
		}
		expect = append(expect, at)
	}
	leave := c.acquireWork()
	if leave == nil {
		return busy
	}
	defer leave()
	ctx, done := context.WithTimeout(r.Context(), workTime)
	defer done()
	began := c.Now()
	var err error
	if out.Report, err = decisions.VerifyWithin(ctx, c.Decisions, expect...); err != nil {
		return logError(err)
	}
	out.Took = c.Now().Sub(began)
	for _, p := range out.Report.Problems {
		place := p.File
		if p.Line > 0 {
			place = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		out.Problems = append(out.Problems, breakView{p.Seq, fmt.Sprintf("%sdecisions/%d", Root, p.Seq),
			shown(place), shown(p.Why)})
	}
	if last := out.Report.Last; last.Seq > 0 && len(out.Problems) == 0 && !out.Report.Cut {
		out.Keep = fmt.Sprintf("%d:%s", last.Seq, last.Hash)
	}
	c.render(w, r, v, http.StatusOK, "verify.html", frame{Title: "Verify", Events: Root + "events",
		Data: out})
	return nil
}

// How many calls of a reply the policy judges again. Each involves all rules, and a reply may hold
// thousands.
const (
	maxJudged = 64
	fewJudged = 8 // where that is done on each pause in typing
)

// readView shows how a rule set reads a reply.
type readView struct {
	Missing  string // why the original is not shown; empty: it is
	Marked   []markedText
	Kinds    []replay.As // of the pieces
	Native   []callView  // calls in the server's own format, as they came
	Tree     *replay.Tree
	Quiet    int // number of strategies without a result
	Judged   []judgedView
	Unjudged int // calls that are too many
}

// read reads a reply with the code that serves. Marked is empty if its text is too long. The result is nil
// if the reply cannot be read.
func (v *readView) read(in guard.World, set *ruleset.Set, profile string, rec *replay.Record,
	native []experiment.ServerCall, confines bool, most int) *replay.Shown {
	for _, call := range native {
		v.Native = append(v.Native, callOf(call.Name, []byte(call.Arguments)))
	}
	read, err := replay.Show(set, in, profile, rec, maxMarked)
	if err != nil {
		v.Missing = "It cannot be read: " + shown(err.Error())
		return nil
	}
	for _, m := range read.Marked {
		v.Marked = append(v.Marked, markedOf(m))
	}
	for _, s := range read.Tree.Strategies {
		if s.Verdict == replay.VerdictNothing || s.Verdict == replay.VerdictDisabled {
			v.Quiet++
		}
	}
	v.Kinds, v.Tree = kindsOf(v.Marked), read.Tree
	world, calls := in.WithFolder(set, rec.Workspace), read.Tree.Judgeable()
	v.Unjudged = max(0, len(calls)-most)
	for _, call := range calls[:len(calls)-v.Unjudged] {
		v.Judged = append(v.Judged, judgedOf(world.ExplainCall(set, call, rec.Who, confines ||
			set.Confine() == ruleset.Always)))
	}
	return read
}

// judgedView shows the policy's answer to a call.
type judgedView struct {
	Tool, Effect, Rule, Place, Why, Instead string
	Audits                                  []policy.Finding
	Facts                                   []guard.FactLine
	Holds, Idle                             []ruleset.Verdict // rules that match, and that do not
}

func judgedOf(e *guard.Explanation) judgedView {
	d := &e.Decision
	v := judgedView{Tool: shown(e.Tool), Effect: string(cmp.Or(d.Effect, policy.Allow)),
		Rule: cmp.Or(d.Rule, "default"), Place: d.Place, Why: shown(d.Why), Instead: shown(d.Instead),
		Audits: d.Audits}
	v.Facts = guard.FactLines(d.Facts, shown)
	for _, rule := range e.Rules {
		rule.Operand, rule.Error = shown(rule.Operand), shown(rule.Error)
		if rule.Holds || rule.Error != "" {
			v.Holds = append(v.Holds, rule)
		} else {
			v.Idle = append(v.Idle, rule)
		}
	}
	return v
}
