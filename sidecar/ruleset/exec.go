package ruleset

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// execFile is exec.yaml.
type execFile struct {
	Version int              `rule:"version,required" one:"1" doc:"The version of the format of this file."`
	Default string           `rule:"default,required" one:"allow deny" doc:"What happens to a call that no rule is about; deny makes the rules that allow the list of all that may leave."`
	Lists   []pair[[]string] `rule:"lists" doc:"Lists of words that conditions see by their names." eg:"{disk_tools: [mkfs, wipefs]}"`
	Rules   []execRule       `rule:"rules" doc:"Each allows, audits or denies some calls. A denial beats everything, wherever it stands."`
}

// execRule has exactly one of Allow, Audit and Deny: the effect is the key.
type execRule struct {
	At    place
	ID    text   `rule:"id,required" doc:"Its name in logs and refusals." eg:"disk-tools"`
	About string `rule:"about" doc:"Why it exists, for operators."`
	Allow *text  `rule:"allow" doc:"The call leaves, where the default would keep it; the text says why." eg:"harmless"`
	Audit *text  `rule:"audit" doc:"A dry run of deny: the call leaves, and the log says that it would not have, with this text." eg:"Writing to a disk destroys what is on it."`
	Deny  *text  `rule:"deny" doc:"The call does not leave; the text is what the model is told." eg:"This deletes a whole home folder. Name the files that are meant."`
	When  *text  `rule:"when" doc:"A condition; left out: always. A rule that fails denies if it would deny, and never allows." eg:"class == 'exec' and command contains 'mkfs'"`
	Hit   []text `rule:"hit" doc:"Shell lines for which it holds, tried whenever the rules are loaded." eg:"[mkfs.ext4 /dev/sda1]"`
	Miss  []text `rule:"miss" doc:"Shell lines for which it does not hold, tried whenever the rules are loaded." eg:"[ls -l]"`
}

// exec takes exec.yaml, and that of the locked folder beside it.
func (l *loader) exec() {
	l.set.policy = l.policy(execFilename, &l.examples)
	if locked := lockedName(execFilename); known(l.files, locked) {
		l.set.locked = l.policy(locked, &l.locked.examples)
		builtin := decodeFile[argumentFile](l, builtinFolder+"/"+argumentsFile)
		l.set.floors = &tools.Rules{Classes: l.set.Tools.Classes, Floors: l.classes(builtin.Classes)}
	}
}

// policy compiles one file of rules about calls, and adds their examples to others.
func (l *loader) policy(name string, examples *[]func()) *policy.Rules {
	f := decodeFile[execFile](l, name)
	lists := lists{}
	for _, list := range f.Lists {
		l.listName(list.Key)
		lists[list.Key.Value] = list.Value
	}
	out := &policy.Rules{Default: policy.Effect(f.Default)}
	var ids []text
	for _, r := range f.Rules {
		ids = append(ids, r.ID)
		l.plainID(r.ID)
		l.set.book.add(r.At, r.ID.Value)
		effect, why := l.effect(r)
		rule := policy.Rule{ID: r.ID.Value, Place: r.At.String(), Effect: effect, Why: why, When: when[policy.Call](l, r.When, lists)}
		out.List = append(out.List, rule)
		l.set.judged = append(l.set.judged, judged{rule, r.When, lists, name != execFilename})
		if r.When == nil || rule.When == nil {
			continue
		}
		for _, command := range r.Hit {
			*examples = append(*examples, func() { l.tryCommand(rule, command, true) })
		}
		for _, command := range r.Miss {
			*examples = append(*examples, func() { l.tryCommand(rule, command, false) })
		}
	}
	l.unique("id", ids)
	return out
}

var listNames = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// listName checks that conditions can name a list.
func (l *loader) listName(name text) {
	taken := slices.ContainsFunc(functions, func(f Word) bool { return f.Name == name.Value }) || slices.Contains(visible(reflect.TypeFor[policy.Call]()), name.Value)
	switch {
	case !listNames.MatchString(name.Value):
		l.report(name.all(), codeValue, "no condition can name a list "+strconv.Quote(name.Value), "letters, digits and _; a letter first")
	case taken:
		l.report(name.all(), codeValue, name.Value+" means something else in a condition", "give the list another name")
	}
}

// effect is the one of the three keys that a rule has, and its text.
func (l *loader) effect(r execRule) (effect policy.Effect, why string) {
	for _, key := range []struct {
		effect policy.Effect
		text   *text
	}{{policy.Allow, r.Allow}, {policy.Audit, r.Audit}, {policy.Deny, r.Deny}} {
		if key.text == nil {
			continue
		}
		if effect != "" {
			l.report(key.text.all(), codeKey, fmt.Sprintf("%s is both %s and %s", r.ID.Value, effect, key.effect), "a rule has one effect")
		}
		effect, why = key.effect, strings.TrimSpace(key.text.Value)
		if why == "" {
			l.report(key.text.all(), codeValue, string(key.effect)+" needs a sentence", "what the model is told, or why the rule exists")
		}
	}
	if effect == "" {
		l.report(r.At, codeMissing, r.ID.Value+" lacks its effect", "write deny: and what the model is told, or allow: or audit: and why")
	}
	return effect, why
}

// tryCommand checks that a rule holds for a command, or does not.
func (l *loader) tryCommand(r policy.Rule, command text, want bool) {
	call := policy.Call{
		Tool: "exec", Class: string(tools.Exec), Args: map[string]any{"command": command.Value}, Command: command.Value,
		Strategy: "native", Confidence: 1, Model: "gpt-oss",
	}
	holds, err := r.When(call)
	switch {
	case err != nil:
		l.report(command.all(), codeExample, fmt.Sprintf("%s fails for this: %v", r.ID, err), "")
	case holds && !want:
		l.report(command.all(), codeExample, r.ID+" holds for this, and should not", "")
	case !holds && want:
		l.report(command.all(), codeExample, r.ID+" does not hold for this", "")
	case holds:
		l.cover(r.Place)
	}
}

// decided counts the rules behind a decision.
func (l *loader) decided(d policy.Decision) {
	l.cover(d.Place)
	for _, f := range d.Audits {
		l.cover(f.Place)
	}
}

// Judges reports whether the policy could have anything to say. If not, calls need
// not be shown to it.
func (s *Set) Judges() bool {
	return s.locked != nil || s.policy.Default == policy.Deny || len(s.policy.List) > 0
}

// maxCarried is how many calls may carry each other; nobody means more than two.
const maxCarried = 4

// Decide says whether a call may leave with all that it carries: the strictest of
// the operator's policy and that of the locked folder, over each of these calls.
func (s *Set) Decide(call tools.Call, model string) policy.Decision {
	var d policy.Decision
	name, args, more := call.Name, call.Arguments, true
	for i := 0; more; i++ {
		if i == maxCarried {
			return policy.Decision{Effect: policy.Deny, Why: "the call carries another one, and so on; call the tool itself"}
		}
		c, err := policy.CallOf(name, string(s.Tools.Class(name)), args)
		if err != nil {
			return policy.Decision{Effect: policy.Deny, Why: err.Error(), Audits: d.Audits}
		}
		c.Strategy, c.Confidence, c.Model = call.Strategy, call.Confidence, model
		one := s.policy.Decide(c)
		if s.locked != nil {
			one = policy.Stricter(one, s.locked.Decide(s.underLock(c)))
		}
		if i == 0 {
			d = one
		} else {
			d = policy.Stricter(d, one)
		}
		name, args, more = policy.Carried(name, args)
	}
	return d
}

// underLock is a call as the locked folder sees it. The operator cannot make its class
// less harmful than the program says.
func (s *Set) underLock(c policy.Call) policy.Call {
	c.Class = string(tools.Class(c.Class).AtLeast(s.floors.Class(c.Tool)))
	return c
}

// defaultRule names the default where no rule decides.
const defaultRule = "default"

// Judge is Decide as a reader asks it: a refusal for a call that may not leave. Each
// decision is told to note, which says whether it counts.
func (s *Set) Judge(model string, note func(tools.Call, policy.Decision) (enforce bool)) func(tools.Call) *tools.Refusal {
	if !s.Judges() {
		return nil
	}
	return func(call tools.Call) *tools.Refusal {
		d := s.Decide(call, model)
		if enforce := note(call, d); !enforce || d.Effect != policy.Deny {
			return nil
		}
		return &tools.Refusal{
			Code: tools.Denied, Name: call.Name, Text: string(call.Arguments),
			Why: fmt.Sprintf("%s (rule %s)", d.Why, cmp.Or(d.Rule, defaultRule)),
		}
	}
}
