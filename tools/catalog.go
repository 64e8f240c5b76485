package tools

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/tools/args"
	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

// Catalog knows the tools of one request, and which of them a damaged call means. It is safe for
// concurrent use once Defer has been called.
type Catalog struct {
	rules    *Rules
	schemas  *Schemas
	offered  []Tool
	deferred []string
	open     bool
}

// NewCatalog returns the catalog of the offered tools. A nil r is the zero Rules, a nil s a new memo.
func NewCatalog(r *Rules, s *Schemas, offered []Tool) *Catalog {
	if r == nil {
		r = &Rules{}
	}
	if s == nil {
		s = NewSchemas(len(offered) + 1)
	}
	return &Catalog{rules: r, schemas: s, offered: offered}
}

// Own replaces the offered tools by copies that share no memory with the request, and returns them.
// Schemas come from the memo. It must not run concurrently with other methods.
func (c *Catalog) Own() []Tool {
	own := make([]Tool, len(c.offered))
	for i, t := range c.offered {
		own[i] = Tool{Name: strings.Clone(t.Name), Parameters: c.schemas.text(t.Parameters),
			Description: t.Description}
	}
	c.offered = own
	return own
}

// OpenCatalog returns the catalog of a reply whose tools are unknown: every well-formed name is a tool,
// no schema is checked, and text that is no JSON becomes {"input": text}.
func OpenCatalog(r *Rules) *Catalog {
	c := NewCatalog(r, nil, nil)
	c.open = true
	return c
}

// deferredVia is the tool by which OpenClaw's Tool Search calls the tools that it lists in the system
// prompt but does not offer. A direct call of one is answered "Tool NAME not found"; tool_call {"id":
// NAME, "args": {…}} works.
const deferredVia = "tool_call"

// Defer names the tools that are reached by "tool_call", if that is offered. Call it before any other
// method.
func (c *Catalog) Defer(names []string) { c.deferred = names }

// Exact reports whether a tool of exactly this name is offered.
func (c *Catalog) Exact(name string) bool { return c.exact(name) != nil }

// Takes reports whether the schema of an offered tool has the argument.
func (c *Catalog) Takes(tool, argument string) bool {
	t := c.exact(tool)
	if t == nil {
		return false
	}
	s := c.schemas.of(t.Parameters)
	return s != nil && s.props[argument] != nil
}

func (c *Catalog) exact(name string) *Tool {
	for i := range c.offered {
		if c.offered[i].Name == name {
			return &c.offered[i]
		}
	}
	return nil
}

// HasPrefix reports whether some offered name begins with word. In an open catalog, any word of name
// characters may become a name.
func (c *Catalog) HasPrefix(word string) bool {
	if c.open {
		return strings.IndexFunc(word, func(r rune) bool { return !isNameRune(r) }) < 0
	}
	for i := range c.offered {
		if strings.HasPrefix(c.offered[i].Name, word) {
			return true
		}
	}
	return false
}

// Empty reports whether nothing may be called.
func (c *Catalog) Empty() bool { return !c.open && len(c.offered) == 0 }

// Open reports whether the tools are unknown, so that every name is one.
func (c *Catalog) Open() bool { return c.open }

// Names returns the offered names in order.
func (c *Catalog) Names() []string {
	out := make([]string, len(c.offered))
	for i := range c.offered {
		out[i] = c.offered[i].Name
	}
	return out
}

// Initials returns the first bytes of the offered names.
func (c *Catalog) Initials() (set scan.Bytes) {
	for i := range c.offered {
		if name := c.offered[i].Name; name != "" {
			set.Add(name[0])
		}
	}
	return set
}

// Class returns the class of a tool by its name.
func (c *Catalog) Class(name string) Class { return c.rules.Class(name) }

// ClassOf returns the class of the tool that raw means. known reports that a rule classes it as Write or
// Exec; unknown names are Write.
func (c *Catalog) ClassOf(raw string) (class Class, known bool) {
	m, refusal := c.Name(raw)
	if refusal != nil {
		return Write, false
	}
	tool := cmp.Or(m.Deferred, m.Name)
	return c.rules.Class(tool), c.rules.harmful(tool)
}

// End tells how the text of a call ended.
type End uint8

// The ends.
const (
	Ended  End = iota // by itself, or with a reply of finish "stop" or "tool_calls"
	Unsaid            // with a reply whose end is unknown
	Cut               // cut: by max_tokens, or by a broken stream
)

// Ending is the end of the text of a call.
type Ending struct {
	How     End
	Guessed bool // the text was repaired, and its arguments may be others
}

// Call returns the correct call for a name and arguments as the model wrote them, or the refusal.
// Undamaged arguments are returned as they are, not copied: they must not change any more.
func (c *Catalog) Call(raw string, args []byte, end Ending) (Call, *Refusal) {
	m, refusal := c.Name(raw)
	if refusal != nil {
		return c.rescue(raw, refusal, string(args), end)
	}
	if plain := bytes.TrimSpace(args); !end.Guessed && c.untouched(m, plain) {
		return Call{Name: m.Name, Arguments: plain, Repairs: m.Repairs}, nil
	}
	return c.arguments(m, string(args), end)
}

// untouched reports, after one look at every byte, whether args can leave unchanged. It is also false if
// a second look is needed.
func (c *Catalog) untouched(m Match, args []byte) bool {
	if m.Deferred != "" || len(args) == 0 || args[0] != '{' || args[len(args)-1] != '}' || len(args) < 32 &&
		noArguments.Match(args) {
		return false
	}
	s := c.schemaOf(m)
	scan := jsontext.Scanner{Doc: args, Depth: c.rules.MaxDepth}
	if s == nil {
		scan.Skip()
	} else if !s.checker.accepts(&scan) {
		return false
	}
	if scan.End() != nil {
		return false
	}
	_, own := c.ownEnvelope(m, s, args)
	w := c.shaper(m)
	var few [8]argument
	all := argumentsOf(args, few[:0])
	return !own && !w.hasUnknown(all) && c.checkMeaning(m, w, all, args) == nil
}

// arguments reads the arguments of a known tool.
func (c *Catalog) arguments(m Match, text string, end Ending) (Call, *Refusal) {
	w := c.shaper(m)
	object, refusal := c.object(m, w, text, end)
	if refusal == nil {
		refusal = c.checkMeaning(m, w, argumentsOf([]byte(object), nil), []byte(object))
	}
	if refusal != nil {
		refusal.Text = strings.TrimSpace(text)
		return Call{}, refusal
	}
	return Call{Name: m.Name, Arguments: []byte(object), Repairs: append(m.Repairs, w.repairs...)}, nil
}

// Plain returns text without the damage that its signs alone show.
func (c *Catalog) Plain(text string) (plain string, repairs []Repair) {
	plain, steps := c.schemas.ops.Plain(text)
	for _, s := range steps {
		repairs = append(repairs, renamed(s.ID, s.From, s.To, ""))
	}
	return plain, repairs
}

// cutOff reports whether the call was cut. A tool that reads may lack a final quote if the model ended
// the call. If the end is Unsaid, a value without its closers was cut if the tool changes something.
func (w *shaper) cutOff(r args.Reading, end Ending) bool {
	switch {
	case r.Cut == jsonrepair.MidValue, r.Cut == jsonrepair.Unended && w.trailing:
		return true
	case end.How == Cut:
		return r.Cut != jsonrepair.Whole || w.closerAdded() || r.Raw
	case w.harmless():
		return false
	case end.How == Unsaid:
		return r.Cut != jsonrepair.Whole
	}
	return r.Cut == jsonrepair.Unended
}

func (w *shaper) refuseCut(name string) *Refusal {
	return w.refuse(Truncated, fmt.Sprintf("the arguments of %s were cut off; send them again, shorter",
		name))
}

// maxLevels bounds the objects around the arguments that are removed, so that time stays linear.
const maxLevels = 4

// object returns the arguments of m as its tool takes them.
func (c *Catalog) object(m Match, w *shaper, text string, end Ending) (string, *Refusal) {
	return w.read(text, func(w *shaper, r args.Reading) (string, *Refusal) {
		return c.fitReading(m, w, r, end)
	})
}

// fitReading returns the object of a reading as the tool takes it.
func (c *Catalog) fitReading(m Match, w *shaper, r args.Reading, end Ending) (string, *Refusal) {
	if refusal := w.refuseRemark(r.Around); refusal != nil {
		return "", refusal
	}
	if w.cutOff(r, end) {
		return "", w.refuseCut(m.Name)
	}
	r.Unsure = r.Unsure || end.Guessed
	if refusal := w.refuseGuess(r); refusal != nil {
		return "", refusal
	}
	if inner, ok := c.ownEnvelope(m, w.schema, []byte(r.Text)); ok {
		w.note("args.unwrap", r.Text, inner, "")
		return c.object(m, w, inner, end)
	}
	if inner, ok := w.schemaValues(r.Text); ok && w.levels < maxLevels {
		if object, ok := c.within(m, w, r.Text, inner, end); ok {
			return object, nil
		}
	}
	if m.Deferred != "" {
		r.Text = `{"id":` + jsontext.Quote(m.Deferred) + `,"args":` + r.Text + `}`
	}
	if outer, ok := w.wrapMissing(r.Text); ok {
		w.note("args.nest", r.Text, outer, "")
		r.Text = outer
	}
	noted := len(w.repairs)
	object, refusal := w.fit(r.Text)
	if refusal == nil && !w.allUnknown(argumentsOf([]byte(object), nil)) || w.schema == nil {
		return object, refusal
	}
	if inner, ok := c.innerObject(m, w, r.Text); ok && w.levels < maxLevels {
		w.repairs = w.repairs[:noted]
		if object, ok := c.within(m, w, r.Text, inner, end); ok {
			return object, nil
		}
	}
	return object, refusal
}

// within returns the arguments inside of an object, if the tool takes them.
func (c *Catalog) within(m Match, w *shaper, object, inner string, end Ending) (string, bool) {
	noted := len(w.repairs)
	w.levels++
	w.note("args.unwrap", object, inner, "")
	taken, why := c.object(m, w, inner, end)
	if why != nil {
		w.repairs = w.repairs[:noted]
	}
	return taken, why == nil
}

func (c *Catalog) shaper(m Match) *shaper {
	return &shaper{ops: c.schemas.ops, tool: m.Name, schema: c.schemaOf(m), rules: c.rules, open: c.open}
}

// schemaOf returns the schema of the arguments of m, or nil.
func (c *Catalog) schemaOf(m Match) *schema {
	if m.Tool == nil || m.Deferred != "" {
		return nil
	}
	return c.schemas.of(m.Tool.Parameters)
}
