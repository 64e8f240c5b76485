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

// mend is where a fault of a turn can be mended.
type mend struct {
	Href string
	Name string // that no tool has; empty: something else is wrong
}

// tryPath is where a reply of a turn can be tried.
func tryPath(id string, reply int) string {
	return fmt.Sprintf("%splayground?turn=%s&reply=%d", Root, url.QueryEscape(id), reply)
}

// mendsOf are the ways out of the faults of a turn, each once, in the order of the faults. tried
// are the replies that can be opened.
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

// replyOf is the reply in which a fault was found, from 0: the last one where no call was refused
// for it. It is -1 where there is no reply.
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

// failed is a reply that made no call of what looked like one.
type failed struct{ Href, Time, What string }

// maxFailed is how many of them the playground offers.
const maxFailed = 5

// failedTurns are the last turns with such a reply. A link keeps the rule file that is open.
func (c *Console) failedTurns(file string) (out []failed) {
	list, _ := c.Turns.Since(0, maxFailed, func(t *Turn) bool { return failedReply(t) >= 0 })
	for i := range list {
		t, k := &list[i], failedReply(&list[i])
		var what []string
		for _, no := range t.Replies[k].Reading.Refused {
			if word := strings.TrimSpace(string(no.Code) + " " + named(no.Name)); no.Code != tools.Denied &&
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

// maxNameShown is of a name that a model made up, in bytes.
const maxNameShown = 48

// named is a name that a model made up, as it fits into a line.
func named(name string) string {
	if name = shown(name); len(name) > maxNameShown {
		return strings.ToValidUTF8(name[:maxNameShown], "") + "…"
	}
	return name
}

// draftProblem is a problem of a draft. One of the drafted file has a line that the editor can
// go to.
type draftProblem struct {
	rulefile.Problem
	Here bool
}

// where is the place of a problem in words. One of a whole file has no line.
func (d *draftProblem) where() string {
	if d.Line == 0 {
		return d.File
	}
	return fmt.Sprintf("line %d of %s", d.Line, d.File)
}

// becomes is what a draft changes, in one line.
type becomes struct{ From, To string }

// maxBecomes is how long each side of it may be, in bytes.
const maxBecomes = 200

// Becomes is the most telling difference: a name that no tool had, and the call that it has become.
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

// lost is the first name that only the rules in force refuse.
func (p *playground) lost() string {
	if p.Before.read == nil || p.After == nil || p.After.read == nil {
		return ""
	}
	for _, no := range p.Before.read.Tree.Refused {
		if no.Name != "" && !slices.ContainsFunc(p.After.read.Tree.Refused,
			func(is tools.Refusal) bool { return is.Name == no.Name }) {
			return named(no.Name)
		}
	}
	return ""
}
