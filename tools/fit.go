package tools

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/tools/args"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// rescue handles a name that means no tool: the call may stand in the arguments, the arguments may fit
// only one tool, or the text is the answer.
func (c *Catalog) rescue(raw string, why *Refusal, text string, end Ending) (Call, *Refusal) {
	why.Text = text
	fixed, err := jsonrepair.Repair(text, c.rules.MaxDepth)
	isObject := err == nil && fixed.JSON[0] == '{' && strings.HasPrefix(strings.TrimSpace(text), "{")
	// the header of a message to the user, sent as a call
	toUser := IsRole(raw) || why.Code == BadName && !isCallID(raw)
	if c.Empty() && (toUser || !isObject) && strings.TrimSpace(text) != "" {
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
		if refusal := c.shaper(m).refuseRemark(fixed.Around); refusal != nil {
			return Call{}, refusal
		}
		if w := c.shaper(m); w.cutOff(args.Reading{Cut: fixed.Cut}, end) {
			return Call{}, w.refuseCut(m.Name)
		}
		m.Repairs = append([]Repair{renamed("args.unwrap", text, e.args, "")}, m.Repairs...)
		return c.arguments(m, e.args, end)
	}
	// a content type in place of the name
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

// Fit returns the call of the one offered tool that the arguments fit: all keys are its parameters, the
// required ones are there, and the types match. Empty arguments fit none. A tool without a schema fits
// only if it is the only one and a rule knows every key for this very tool. Arguments that were cut or
// guessed fit none.
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
		c.checkMeaning(m, w, all, fixed.JSON) != nil {
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

// paramsOf returns the rules for the parameters of a tool, of its group, of its class, and of every
// tool.
func (r *Rules) paramsOf(tool string) []ParamAlias {
	var out []ParamAlias
	for _, p := range r.Params {
		if r.about(p.Tool, tool) {
			out = append(out, p)
		}
	}
	return out
}

// textParam returns the rule that gives a parameter plain text.
func (r *Rules) textParam(tool, param string) (rule TextParam, ok bool) {
	i := slices.IndexFunc(r.Texts,
		func(t TextParam) bool { return alike(t.Params, param) && r.about(t.Tool, tool) })
	if i < 0 {
		return TextParam{}, false
	}
	return r.Texts[i], true
}

// about reports whether a rule applies to a tool: to all, to its class, to itself, or to its group.
func (r *Rules) about(ruled, tool string) bool {
	if class, ok := strings.CutPrefix(ruled, OfClass); ok {
		return r.Class(tool) == Class(class)
	}
	own := key(tool)
	return ruled == "" || hasKey(ruled, own) || slices.ContainsFunc(r.Groups, func(g Group) bool {
		return hasKey(ruled, key(g.Names[0].Text)) && (index(g.Names, own) >= 0 || index(g.Weak, own) >= 0)
	})
}
