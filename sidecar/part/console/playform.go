package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

const (
	maxDraft = 3 << 20  // bytes of the form: a letter may take three there
	maxGiven = 64 << 10 // bytes of each part of a reply
)

// playForm is the form of the playground. A draft is stored only there.
type playForm struct {
	What                         string // reply, or a kind of draft.Question
	Text, Thought, Calls, Finish string
	Tools, List                  string // which are offered: turn, three, list or any; List are those of list
	Model, Server, Profile       string
	Turn                         string // from which it was taken; empty: none
	Reply                        int
	File                         string // that is wanted
	From                         string // the file whose page one came from; empty: none
	Of, Draft, Base              string // the file that is drafted, its text, and the version that was seen
	To                           string // the version that undo goes back to
	Do, Alias                    string // what to do; of alias: TOOL NAME
	Line                         int    // to which the editor goes
}

func formOf(r *http.Request) (playForm, error) {
	f := fieldsOf(r.PostForm)
	for name, text := range map[string]string{"reply": f.Text, "reasoning": f.Thought,
		"list of calls": f.Calls, "list of tools": f.List} {
		if len(text) > maxGiven {
			return f, &trouble{http.StatusRequestEntityTooLarge, "That was too long",
				fmt.Sprintf("The %s may have %d KiB. Go back, and shorten it.", name, maxGiven>>10)}
		}
	}
	return f, nil
}

// fieldsOf reads a form or an address. Browsers send lines with CR LF.
func fieldsOf(q url.Values) playForm {
	get := func(name string) string { return strings.ReplaceAll(q.Get(name), "\r\n", "\n") }
	f := playForm{
		What: get("what"), Text: get("text"), Thought: get("thought"), Calls: get("calls"),
		Finish: get("finish"), Tools: get("tools"), List: get("list"),
		Model: get("model"), Server: get("server"), Profile: get("profile"), Turn: get("turn"),
		File: get("file"), From: get("from"), Of: get("of"), Draft: get("draft"),
		Base: get("base"), To: get("to"), Do: get("do"),
	}
	if alias, ok := strings.CutPrefix(f.Do, "alias "); ok {
		f.Do, f.Alias = "alias", alias
	}
	f.Reply, _ = strconv.Atoi(get("reply"))
	f.Line, _ = strconv.Atoi(get("line"))
	if f.What == "" {
		f.What = "reply"
	}
	if f.Tools == "" {
		f.Tools = "three"
	}
	return f
}

// given returns the reply of the form. A reply of a turn is text of the model until the viewer pastes
// something else.
func (f *playForm) given() *Given {
	text := strings.TrimSpace(f.Text)
	pasted := strings.HasPrefix(text, "data:") || strings.HasPrefix(text, "{") &&
		strings.Contains(text, `"choices"`)
	return &Given{Text: f.Text, Reasoning: f.Thought, Calls: f.Calls, Finish: f.Finish, Plain: f.Turn != "" &&
		!pasted}
}

// taken returns the reply of the turn that the form names, while it is kept.
func (c *Console) taken(f *playForm) (*Turn, *Reply) {
	t, ok := c.Turns.Turn(f.Turn)
	if f.Turn == "" || !ok || f.Reply < 1 || f.Reply > len(t.Replies) || !t.Replies[f.Reply-1].Words {
		return nil, nil
	}
	return &t, &t.Replies[f.Reply-1]
}

// take copies a reply of a turn into the form, with its secrets masked.
func (c *Console) take(f *playForm) (masked int, err error) {
	t, r := c.taken(f)
	if r == nil {
		return 0, &trouble{http.StatusNotFound, "This reply is gone",
			"Only the words of the last turns are kept, in memory, and none where the setting console says no-text."}
	}
	hide := func(s string) string {
		s, n := secrets.Mask(s)
		masked += n
		return s
	}
	f.Text, f.Thought = hide(r.Whole.Content), hide(turn.ReasoningOf(&r.Whole, r.Thought))
	f.Model, f.Server, f.Profile, f.Finish, f.Tools = t.Model, r.Server, r.Profile, r.Finish, "turn"
	if r.OfferedUnknown {
		f.Tools = "any"
	}
	_, native := recordOf(t, r)
	var calls []map[string]any
	for _, k := range native {
		var args any = k.Arguments
		if json.Valid([]byte(k.Arguments)) {
			args = json.RawMessage(k.Arguments)
		}
		calls = append(calls, map[string]any{"name": k.Name, "arguments": args})
	}
	if calls != nil {
		doc, _ := json.Marshal(calls) // they hold texts and valid JSON alone
		safe, n, err := secrets.MaskJSON(doc)
		if err != nil {
			return masked, err
		}
		f.Calls, masked = string(safe), masked+n
	}
	if max(len(f.Text), len(f.Thought), len(f.Calls)) > maxGiven {
		return masked, &trouble{http.StatusRequestEntityTooLarge, "This reply is too long for the playground",
			fmt.Sprintf("Each part of it may have %d KiB. Record it, and take explain.", maxGiven>>10)}
	}
	return masked, nil
}

// record returns the reply of the form as a record, with the facts of its turn.
func (c *Console) record(f *playForm) (*replay.Record, error) {
	rec, err := f.given().Record()
	if err != nil {
		return nil, err
	}
	rec.Model, rec.Server = cmp.Or(f.Model, rec.Model), cmp.Or(f.Server, rec.Server)
	rec.Who = policy.Subject{Model: rec.Model, Interactive: true}
	t, r := c.taken(f)
	if r != nil {
		rec.User, rec.Workspace, rec.Intact, rec.Asked, rec.Formatted = r.User, r.Workspace, r.Intact,
			r.Asked, r.Formatted
		rec.Who = policy.Subject{Model: rec.Model, Client: t.Client, Agent: t.Agent, Channel: t.Channel,
			Session: t.Session, Run: t.Run != "", Interactive: true}
	}
	switch {
	case f.Tools == "any":
		rec.Tools = nil
	case f.Tools == "three":
		rec.Tools = Three()
	case f.Tools == "list":
		rec.Tools, err = Tools(f.List)
	case r == nil:
		err = fmt.Errorf("the turn is gone, and its tools with it: choose others")
	default:
		rec.Tools = offeredOf(r)
	}
	return rec, err
}

// choice is an option of a list.
type choice struct {
	pair
	Here bool
}

// optionsOf makes options of pairs of values and texts.
func optionsOf(is string, list ...pair) (out []choice) {
	for _, p := range list {
		out = append(out, choice{p, p.Name == is})
	}
	return out
}

// plainOptions makes options whose texts are their values.
func plainOptions(is string, values []string) (out []choice) {
	for _, v := range values {
		out = append(out, choice{pair{v, v}, v == is})
	}
	return out
}

// Kinds returns what can be read.
func (p *playground) Kinds() []choice {
	return optionsOf(p.Form.What, pair{"reply", "a reply of the model"}, pair{command, "a command"},
		pair{Path, "a path"}, pair{URL, "an address (URL)"})
}

// Toolings returns the possible sources of tools.
func (p *playground) Toolings() []choice {
	list := []pair{{"three", "exec, read, write"}, {"list", "a list"},
		{"any", "not known: any name is a tool"}}
	if p.Form.Turn != "" {
		list = append([]pair{{"turn", "those of the turn"}}, list...)
	}
	return optionsOf(p.Form.Tools, list...)
}

// Finishes returns the reasons for the end of a reply.
func (p *playground) Finishes() []choice {
	return optionsOf(p.Form.Finish, pair{"", "as the reply says"}, pair{"stop", "stop"},
		pair{"tool_calls", "tool_calls"}, pair{"length", "length"}, pair{"content_filter", "content_filter"})
}

// Profiled returns the profiles of the strategies.
func (p *playground) Profiled() []choice {
	is := p.Form.Profile
	if is == "" {
		is = ruleset.DefaultProfile
	}
	return plainOptions(is, p.Profiles)
}

// Choices returns the files of the folder.
func (p *playground) Choices() []choice { return plainOptions(p.Form.Of, p.Files) }

// Ready reports whether the draft can be published.
func (p *playground) Ready() bool {
	return p.Checked.Changed && p.Checked.Set != nil && !p.Checked.Failing
}

// AliasFile returns the file with the names of tools.
func (*playground) AliasFile() string { return aliasFile }

// ruleHref returns the page that edits a rule, by its place; empty: the rule is not in the folder.
func ruleHref(place string) string {
	file, line, ok := strings.Cut(place, ":")
	line, _, _ = strings.Cut(line, ":") // a column may follow
	n, err := strconv.Atoi(line)
	if !ok || err != nil || !rulefile.IsRuleFile(file) {
		return ""
	}
	return fmt.Sprintf("%splayground?file=%s&line=%d", Root, url.QueryEscape(file), n)
}

// Try returns the playground with a reply of the turn.
func (t *turnView) Try(reply int) string {
	return tryPath(t.ID, reply)
}
