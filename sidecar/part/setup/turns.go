package setup

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// scriptedTurns are the turns, and the tools that they offer.
//
//go:embed turns.json
var scriptedTurns []byte

//go:embed turns.html
var turnsPage string

// scripted is a turn: what a user asks, the call that answers it, and what was wrong with the model's.
type scripted struct {
	Ask, Name     string
	Arguments     json.RawMessage
	Without, With string // faults; empty: right
}

// serverTurns are the turns of a model at a server.
type serverTurns struct {
	Model, Server string
	profile       string // reads the model
	Tools         []json.RawMessage
	Turns         []scripted
}

// Tally says how many turns came right, and what was wrong with the others.
func (s *serverTurns) Tally(with bool) string {
	faults := map[string]int{}
	for _, t := range s.Turns {
		fault := t.Without
		if with {
			fault = t.With
		}
		faults[fault]++
	}
	out := fmt.Sprintf("%d of %d", faults[""], len(s.Turns))
	for _, fault := range []string{"no answer", "leak", "no call", "invalid JSON", "unknown name", "schema",
		"other values"} {
		if n := faults[fault]; n > 0 {
			out += fmt.Sprintf(", %s %d", fault, n)
		}
	}
	return out
}

// turns asks the server at a base URL for each scripted turn, and the sidecar for its model of an id.
func (p *Patient) turns(ctx context.Context, v server, base, key, id string) Check {
	const name = "turns"
	p.say("asking for ten calls, without the sidecar and with it")
	s := serverTurns{Model: v.model, profile: v.profile,
		Server: strings.TrimSpace(v.dialect + " " + v.version)}
	err := json.Unmarshal(scriptedTurns, &s)
	var st *stage
	if err == nil {
		st, err = start(ctx, p.Serve, base)
	}
	if err != nil {
		return Check{Name: name, Status: fail, Found: err.Error(), Fix: "mend what it says, then run gpt-oss-executor doctor again"}
	}
	st.caller.http.Timeout = askPatience
	for i := range s.Turns {
		t := &s.Turns[i]
		st.caller.key = key
		without, err := st.caller.asks(ctx, st.direct, v.model, t.Ask, s.Tools)
		t.Without = p.faultOf(&s, t, without, err)
		st.caller.key = ""
		with, err := st.caller.asks(ctx, st.served, id, t.Ask, s.Tools)
		t.With = p.faultOf(&s, t, with, err)
	}
	if err := st.close(); err != nil {
		p.say("%v", err)
	}
	p.asked = append(p.asked, s)
	c := v.fine(name, "scripted turns that came right without the sidecar: %s; with it: %s", s.Tally(false),
		s.Tally(true))
	if slices.ContainsFunc(s.Turns, func(t scripted) bool { return t.With != "" }) {
		c.Status, c.Fix = warn, "run it again, since a model may err; if it errs again, look at the reply with gpt-oss-executor explain"
	}
	return c
}

// faultOf returns what is wrong with an answer to a turn.
func (p *Patient) faultOf(s *serverTurns, t *scripted, a answer, err error) string {
	switch {
	case err != nil || a.fault != "":
		return "no answer"
	case a.leak() != "" || p.changes(s, a.text):
		return "leak"
	case len(a.calls) == 0:
		return "no call"
	}
	for _, c := range a.calls {
		schema := gjson.GetBytes(scriptedTurns, fmt.Sprintf("tools.#(function.name==%q).function.parameters",
			c.Name)).Raw
		compiled, err := tools.CompileSchema([]byte(schema))
		switch {
		case !gjson.Valid(c.Args):
			return "invalid JSON"
		case err != nil:
			return "unknown name"
		case !compiled.Accepts(c.Args):
			return "schema"
		}
	}
	if c := a.calls[0]; len(a.calls) > 1 || c.Name != t.Name ||
		meaning(c.Args) != meaning(string(t.Arguments)) {
		return "other values"
	}
	return ""
}

// changes reports whether the sidecar would not let a text through as it is.
func (p *Patient) changes(s *serverTurns, text string) bool {
	rec := replay.Record{Input: &replay.RecordInput{Text: &text}, Tools: s.Tools, Model: s.Model}
	m, err := rec.Make(p.Set, p.World, s.profile)
	return err != nil || len(m.Calls) > 0 || strings.TrimSpace(m.Content) != strings.TrimSpace(text)
}

// writeTurns writes the page about all servers.
func (p *Patient) writeTurns(path string) error {
	var out bytes.Buffer
	err := template.Must(template.New("turns").Parse(turnsPage)).Execute(&out, map[string]any{
		"Servers": p.asked, "Version": built.Version()})
	if err != nil {
		return err
	}
	return atomicfile.Write(path, []byte(p.masked(out.String())), 0o644)
}
