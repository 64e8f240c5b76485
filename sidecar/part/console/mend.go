package console

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// mend is a link to where a fault of a turn can be fixed.
type mend struct {
	Href string
	Name string // an unknown name of a tool; empty: another fault
}

// tryPath returns the playground with a reply of a turn.
func tryPath(id string, reply int) string {
	return fmt.Sprintf("%splayground?turn=%s&reply=%d", Root, url.QueryEscape(id), reply)
}

// mendsOf returns the links for the faults of a turn, without duplicates and in order. tried reports
// whether a reply can be opened.
func mendsOf(t *Turn, tried func(reply int) bool) (out []mend) {
	for _, f := range t.Account.Faults {
		i := replyOf(t, f)
		if i < 0 || !tried(i) {
			continue
		}
		m := mend{Href: tryPath(t.ID, i+1)}
		if string(f.Fault) == string(tools.NotOffered) {
			m.Name = shown(f.Tool)
		}
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// replyOf returns the index of the reply with a fault: the last one in which a call was refused for it, or
// the last of all; -1 without replies.
func replyOf(t *Turn, f turn.FaultRecord) int {
	for i := range t.Replies {
		for _, no := range t.Replies[i].Reading.Refused {
			if string(no.Code) == string(f.Fault) && no.Name == f.Tool {
				return i
			}
		}
	}
	return len(t.Replies) - 1
}

// failed is a reply whose apparent calls were all refused.
type failed struct{ Href, Time, What string }

// maxFailed is how many of them the playground lists.
const maxFailed = 5

// failedTurns returns the last such turns. Their links keep the open rule file.
func (c *Console) failedTurns(file string) (out []failed) {
	list, _ := c.Turns.Since(0, maxFailed, func(t *Turn) bool { return failedReply(t) >= 0 })
	for i := range list {
		t, k := &list[i], failedReply(&list[i])
		var what []string
		for _, no := range t.Replies[k].Reading.Refused {
			word := strings.TrimSpace(string(no.Code) + " " + shortName(no.Name))
			if no.Code != tools.Denied &&
				!slices.Contains(what, word) && len(what) < 3 {
				what = append(what, word)
			}
		}
		out = append(out, failed{tryPath(t.ID, k+1) + "&file=" + url.QueryEscape(file),
			t.Began.Format("15:04:05"), strings.Join(what, ", ")})
	}
	return out
}

func failedReply(t *Turn) int {
	return slices.IndexFunc(t.Replies, func(r Reply) bool {
		return r.Words && slices.ContainsFunc(r.Reading.Refused,
			func(no tools.Refusal) bool { return no.Code != tools.Denied })
	})
}

// maxNameShown is the maximal length of an unknown name, in bytes.
const maxNameShown = 48

// shortName shortens an unknown name to fit on a line.
func shortName(name string) string {
	if name = shown(name); len(name) > maxNameShown {
		return strings.ToValidUTF8(name[:maxNameShown], "") + "…"
	}
	return name
}

// draftProblem is a problem of a draft. In the drafted file it has a line for the editor.
type draftProblem struct {
	rulefile.Problem
	Here bool
}

// where describes the place of a problem. A problem of a whole file has no line.
func (d *draftProblem) where() string {
	if d.Line == 0 {
		return d.File
	}
	return fmt.Sprintf("line %d of %s", d.Line, d.File)
}

// becomes is the effect of a draft on one line.
type becomes struct{ From, To string }

// maxBecomes is the maximal length of each side, in bytes.
const maxBecomes = 200

// Becomes returns the most telling effect: an unknown name, and the call that it now becomes.
func (p *playground) Becomes() *becomes {
	if len(p.Differences) == 0 {
		return nil
	}
	d := p.Differences[0]
	out, was := becomes{d.What + ": " + d.Before, d.After}, p.lost()
	for _, d := range p.Differences {
		if was != "" && d.Before == "nothing" && strings.HasPrefix(d.What, "call ") {
			out = becomes{was, d.After}
			break
		}
	}
	for _, side := range []*string{&out.From, &out.To} {
		if len(*side) > maxBecomes {
			*side = strings.ToValidUTF8((*side)[:maxBecomes], "") + "…"
		}
	}
	return &out
}

// lost returns the first name that is refused by the rules in force and not by the draft.
func (p *playground) lost() string {
	if p.Before.read == nil || p.After == nil || p.After.read == nil {
		return ""
	}
	for _, no := range p.Before.read.Tree.Refused {
		if no.Name != "" && !slices.ContainsFunc(p.After.read.Tree.Refused,
			func(is tools.Refusal) bool { return is.Name == no.Name }) {
			return shortName(no.Name)
		}
	}
	return ""
}
