package guard

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// maxWanted is how many bytes of a call are shown in a chat.
const maxWanted = 200

// personText tells a person why a call was not made: what was wanted, which rule decided, and how to
// change that. The model gets another text.
func (j *judge) personText(call *tools.Call, d policy.Decision, approval string) string {
	rule := "The profile"
	if d.Rule != "" {
		rule = fmt.Sprintf("Rule %s (%s)", d.Rule, d.Place)
	}
	texts := []string{strings.TrimSuffix(strings.TrimSpace(d.Why), ".") + ".",
		"The model wanted " + wantedText(call, d) + "."}
	switch {
	case d.Effect == policy.Deny:
		texts = append(texts, rule+" denies it.", changeHint(d))
	case approval != "":
		texts = append(texts, j.answerText(approval))
	case j.Approvals == nil:
		texts = append(texts, rule+
			" wants a person to allow it, and no person can be asked here: start gpt-oss-executor with --admin "+
			"and a token, and answer with gpt-oss-executor approvals.", changeHint(d))
	default:
		texts = append(texts, rule+" wants a person to allow it, and they cannot be asked about it.",
			changeHint(d))
	}
	return strings.Join(texts, " ")
}

// answerText tells a person the state of the question about a call, and how to answer it.
func (j *judge) answerText(approval string) string {
	e, err := j.Approvals.Get(approval)
	switch {
	case err == nil && e.State == approvals.Pending:
		return fmt.Sprintf("To allow it once: gpt-oss-executor approvals allow %s, until %s; then let the model go on.", approval, e.Until.Format("15:04"))
	case err == nil && e.State == approvals.Denied:
		return strings.TrimSuffix("A person has said no: "+e.Note, ": ") + "."
	}
	return "A person was asked, and has not answered in time. Ask again to be asked again."
}

// changeHint tells an operator how to change a decision.
func changeHint(d policy.Decision) string {
	switch {
	case strings.HasPrefix(d.Place, rulefile.PolicyFolder+"/"):
		return "That rule is locked, and only who owns " + rulefile.PolicyFolder + "/ can change it."
	case d.Rule == "":
		return "To allow what no rule speaks about: gpt-oss-executor policy profile permissive."
	}
	return "To allow such calls, change that rule in your rules; gpt-oss-executor policy explain shows how it was decided."
}

// wantedText returns what a call was about, as far as a chat may show it: a denied call is never shown
// whole.
func wantedText(call *tools.Call, d policy.Decision) string {
	what := d.Operand
	if d.Facts != nil && d.Effect == policy.Ask {
		what = cmp.Or(d.Facts.Call.Command, what)
	}
	if what == "" {
		return "to call " + call.Name
	}
	if what, _ = secrets.Mask(what); len(what) > maxWanted {
		what = strings.ToValidUTF8(what[:maxWanted], "") + "…"
	}
	return call.Name + " with " + strconv.Quote(what)
}
