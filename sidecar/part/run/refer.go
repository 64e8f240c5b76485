package run

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/jgavinray/gpt-oss-executor/tools"
	"github.com/jgavinray/gpt-oss-executor/tools/refer"
)

const unresolved tools.RefusalCode = "unresolved_argument"

const maxCandidates = 8

// resolve replaces arguments that refer to earlier results, as references.yaml says, and returns a
// note for the model. The refusal names the candidates. Earlier results are those of the conversation
// and of the calls before this one in the same reply.
func (r *Run) resolve(call *tools.Call, s *modelReply,
	before []tools.Result) (note string, refusal *tools.Refusal) {
	rules := &r.set.References
	names, how := rules.Of(call.Name)
	for i, name := range names {
		v := gjson.GetBytes(call.Arguments, gjson.Escape(name))
		if v.Type != gjson.String {
			continue
		}
		kind := refer.Kind(how[i].Kind)
		ref, open := rules.Words.Read(v.Str, kind)
		var is string
		switch {
		case open && kind == refer.Path && r.judge.Exists(v.Str):
			continue
		case open:
			found := refer.Find(kind, r.earlierResults(s, before))
			one, ok := ref.Choose(found, how[i].Resolve == "first")
			if !ok || ref.Exact == "" && (how[i].Resolve == "refuse" || r.changes(call)) {
				return "", &tools.Refusal{Code: unresolved, Name: call.Name, Text: string(call.Arguments),
					Why: ambiguous(name, v.Str, kind, found.All)}
			}
			is, note = one, note+fmt.Sprintf("\n\n[The %s %q was taken for %s.]", name, v.Str, one)
		case how[i].HTTPS:
			var lacked bool
			if is, lacked = refer.AddScheme(v.Str, rules.Files); !lacked {
				continue
			}
		default:
			continue
		}
		args, err := sjson.SetBytes(call.Arguments, gjson.Escape(name), is)
		if err != nil { // the name comes from the rules: such a call stays as it is
			continue
		}
		call.Arguments = args
		r.Log.Info("an argument was filled in", "event", "argument_resolved", "run", r.ID, "tool", call.Name,
			"argument", name, "was", logText(v.Str), "is", logText(is))
	}
	return note, nil
}

// hasReference reports whether an argument refers to an earlier result.
func (r *Run) hasReference(call *tools.Call) bool {
	names, how := r.set.References.Of(call.Name)
	for i, name := range names {
		if v := gjson.GetBytes(call.Arguments, gjson.Escape(name)); v.Type == gjson.String {
			if _, open := r.set.References.Words.Read(v.Str, refer.Kind(how[i].Kind)); open {
				return true
			}
		}
	}
	return false
}

// earlierResults returns the results of the run before a call, as the model reads them.
func (r *Run) earlierResults(s *modelReply, before []tools.Result) (out []refer.Result) {
	for _, e := range r.talk.turns {
		for i := range e.results {
			if o := &e.results[i]; !o.failed {
				out = append(out, r.referenced(o.tool, o.args, o.text))
			}
		}
	}
	for i := range before {
		if c := &s.Calls[i]; !before[i].Failed {
			out = append(out, r.referenced(c.Name, c.Arguments, before[i].Text))
		}
	}
	return out
}

// referenced returns one result with the files or URLs that its call names.
func (r *Run) referenced(tool string, args []byte, text string) refer.Result {
	out := refer.Result{Text: text, Ranked: r.set.References.List(tool)}
	names, how := r.set.References.Of(tool)
	for i, name := range names {
		v := gjson.GetBytes(args, gjson.Escape(name))
		if _, open := r.set.References.Words.Read(v.Str, refer.Kind(how[i].Kind)); v.Type == gjson.String &&
			!open {
			out.Names = append(out.Names, v.Str)
		}
	}
	return out
}

// ambiguous tells the model what to send in place of an argument.
func ambiguous(name, value string, kind refer.Kind, all []refer.Candidate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %q. That stands for something which was not said, so nothing was called.", name,
		value)
	switch {
	case len(all) > 0:
		b.WriteString(" Send the call again with what you mean. The results before have:")
		for i, c := range all[:min(len(all), maxCandidates)] {
			fmt.Fprintf(&b, "\n%d. %s", i+1, c.Text)
			if c.Title != "" {
				b.WriteString(" (" + c.Title + ")")
			}
		}
		if more := len(all) - maxCandidates; more > 0 {
			fmt.Fprintf(&b, "\nand %d more.", more)
		}
	case kind == refer.URL:
		b.WriteString(" No result before has an address. Find one first, and write it out.")
	default:
		b.WriteString(" No result before names a file. Write the name out.")
	}
	if kind == refer.Path {
		b.WriteString("\nA file that is really named so is written with ./ before it.")
	}
	return b.String()
}
