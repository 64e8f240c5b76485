package tools

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools/args"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// rescue looks for a call whose name does not say which tool is meant: the true
// call may stand in the arguments, the arguments may fit only one tool, or what
// was sent is no call but the answer.
func (c *Catalog) rescue(raw string, why *Refusal, text string, end Ending) (Call, *Refusal) {
	why.Text = text
	fixed, err := jsonrepair.Repair(text, c.rules.MaxDepth)
	isObject := err == nil && fixed.JSON[0] == '{' && strings.HasPrefix(strings.TrimSpace(text), "{")
	// the header of a message to the user, sent as a call
	nobody := Somebody(raw) || why.Code == BadName && !isCallID(raw)
	if c.Empty() && (nobody || !isObject) && strings.TrimSpace(text) != "" {
		why.Code, why.Why = Answer, "no tools are offered, and what was sent is no call"
	}
	if !isObject {
		return Call{}, why
	}
	if fixed.Cut >= jsonrepair.Unquoted {
		return Call{}, why
	}
	end.Guessed = end.Guessed || fixed.Unsure || fixed.Words
	e := readEnvelope(fixed.JSON)
	wrapped := e.nameKey != ""
	m, refusal := c.Name(e.name)
	if wrapped && refusal == nil && (c.Wraps(raw) || c.rules.Class(cmp.Or(m.Deferred, m.Name)) == Read) {
		if refusal := c.shaper(m).beside(fixed.Around); refusal != nil {
			return Call{}, refusal
		}
		if w := c.shaper(m); w.cutOff(args.Reading{Cut: fixed.Cut}, end) {
			return Call{}, w.refuseCut(m.Name)
		}
		m.Repairs = append([]Repair{renamed("args.unwrap", text, e.args, "")}, m.Repairs...)
		return c.arguments(m, e.args, end)
	}
	// a content type, where a name should be
	if why.Code == BadName || why.Code == Answer && key(why.Name) == "json" {
		if call, ok := c.Fit(text, end); ok {
			return call, nil
		}
	}
	if wrapped && refusal != nil && !c.Empty() {
		refusal.Text = text
		return Call{}, refusal
	}
	return Call{}, why
}

// Fit returns the call of the one offered tool that the arguments fit: every key
// is one of its parameters, all that it requires is there, and the types are
// right. No arguments fit no tool. A tool without a schema fits only if it is the
// only one, and a rule knows every key as a parameter of this very tool. Arguments
// that the reply was cut in, or that had to be guessed, fit none.
func (c *Catalog) Fit(text string, end Ending) (Call, bool) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return Call{}, false
	}
	fixed, err := jsonrepair.Repair(text, c.rules.MaxDepth)
	if err != nil || fixed.Cut >= jsonrepair.Unquoted || fixed.Unsure || fixed.Words ||
		fixed.JSON[0] != '{' || fixed.Has(jsonrepair.KindValue) {
		return Call{}, false
	}
	object := string(fixed.JSON)
	given := membersOf(object)
	fitting := c.all(func(name string) bool { return len(given) > 0 && c.fits(c.exact(name), object, given) })
	if len(fitting.tools) != 1 {
		return Call{}, false
	}
	name := fitting.tools[0].Name
	m := Match{Tool: fitting.tools[0], Name: name}
	w, all := c.shaper(m), argumentsOf(fixed.JSON, nil)
	if w.remark(fixed.Around) != "" || end.How == Cut && w.cutOff(args.Reading{Cut: fixed.Cut}, end) ||
		c.sound(m, w, all, fixed.JSON) != nil {
		return Call{}, false
	}
	repairs := append(Mended(fixed.Changes), renamed("name.fit", "", name, ""))
	return Call{Name: name, Arguments: fixed.JSON, Repairs: repairs}, true
}

func (c *Catalog) fits(t *Tool, object string, given []member) bool {
	known := func(m member) bool { return false }
	s := c.schemas.of(t.Parameters)
	switch {
	case s != nil:
		known = func(m member) bool { return s.props[m.name] != nil }
	case len(c.offered) == 1:
		params := c.rules.paramsOf(t.Name)
		known = func(m member) bool {
			return slices.ContainsFunc(params, func(p ParamAlias) bool {
				return p.Tool != "" && p.names(m.name)
			})
		}
	}
	for _, m := range given {
		if !known(m) {
			return false
		}
	}
	return s == nil || s.Accepts(object)
}

// paramsOf returns the rules about the parameters of a tool: those that name it,
// those for its group or its class, and those for every tool.
func (r *Rules) paramsOf(tool string) []ParamAlias {
	var out []ParamAlias
	for _, p := range r.Params {
		if r.about(p.Tool, tool) {
			out = append(out, p)
		}
	}
	return out
}

// textParam returns the rule that gives a parameter of a tool plain text.
func (r *Rules) textParam(tool, param string) (rule TextParam, ok bool) {
	i := slices.IndexFunc(r.Texts,
		func(t TextParam) bool { return alike(t.Params, param) && r.about(t.Tool, tool) })
	if i < 0 {
		return TextParam{}, false
	}
	return r.Texts[i], true
}

// about reports whether a rule for one tool is about another: for all, for all of its class, for
// this one, or for the group that it is in.
func (r *Rules) about(ruled, tool string) bool {
	if class, ok := strings.CutPrefix(ruled, OfClass); ok {
		return r.Class(tool) == Class(class)
	}
	own := key(tool)
	return ruled == "" || hasKey(ruled, own) || slices.ContainsFunc(r.Groups, func(g Group) bool {
		return hasKey(ruled, key(g.Names[0].Text)) && (index(g.Names, own) >= 0 || index(g.Weak, own) >= 0)
	})
}
