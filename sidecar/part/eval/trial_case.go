package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/noise"
)

// Draw identifies a case. It is part of the user's message, which every proxy and gateway preserves.
type Draw struct {
	Seed    uint64
	Options noise.Options
}

// String formats the draw as in a message: [noise 17 chain=1 only=spell-html].
func (d Draw) String() string {
	b := fmt.Appendf(nil, "[noise %d chain=%d", d.Seed, d.Options.Chain)
	if len(d.Options.Only) > 0 {
		b = fmt.Appendf(b, " only=%s", strings.Join(d.Options.Only, ","))
	}
	if len(d.Options.Without) > 0 {
		b = fmt.Appendf(b, " without=%s", strings.Join(d.Options.Without, ","))
	}
	if d.Options.Mix != "" {
		b = fmt.Appendf(b, " mix=%s", d.Options.Mix)
	}
	if d.Options.Negatives {
		b = append(b, " negatives"...)
	}
	return string(append(b, ']'))
}

var mark = regexp.MustCompile(`\[noise (\d+)((?: [a-z=,0-9._-]+)*)\]`)

// FindDraw finds the last draw in a text. The error describes a mistake in it.
func FindDraw(text string) (d Draw, ok bool, err error) {
	all := mark.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return d, false, nil
	}
	last := all[len(all)-1]
	if d.Seed, err = strconv.ParseUint(last[1], 10, 64); err != nil {
		return d, true, fmt.Errorf("seed %s: it is too large", last[1])
	}
	for _, word := range strings.Fields(last[2]) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "chain":
			d.Options.Chain, err = strconv.Atoi(value)
		case "mix":
			d.Options.Mix = value
		case "only":
			d.Options.Only = strings.Split(value, ",")
		case "without":
			d.Options.Without = strings.Split(value, ",")
		case "negatives":
			d.Options.Negatives = true
		default:
			err = fmt.Errorf("%q: write chain=, mix=, only=, without= or negatives", word)
		}
		if err != nil {
			return d, true, err
		}
	}
	return d, true, d.Options.Check()
}

// Lines writes n cases, beginning with a seed, one line each.
func Lines(w io.Writer, seed uint64, n int, o noise.Options) error {
	for i := range uint64(n) {
		line, err := Line(noise.New(seed+i, o))
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n", line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Line returns a case as a line of JSON: a reply as explain reads it, with its label.
func Line(c noise.Case) ([]byte, error) {
	line := map[string]any{
		"id": c.Seed, "user": c.User, "tools": offered(c), "message": message(c), "finish_reason": c.Finish,
		"ops": append([]string{}, c.Ops...), "truth": truth(c), "visible": append([]string{}, c.Visible...),
		"hidden": append([]string{}, c.Hidden...),
	}
	if c.Negative != "" {
		line["negative"] = c.Negative
	}
	if c.Model != "" {
		line["model"] = c.Model
	}
	return json.Marshal(line)
}

func truth(c noise.Case) []map[string]any {
	out := []map[string]any{}
	for _, t := range c.Truth {
		out = append(out, map[string]any{"name": t.Name, "arguments": t.Args, "class": t.Class,
			"standing": t.Standing})
	}
	return out
}

// offered returns the tools of a case for a request.
func offered(c noise.Case) []map[string]any {
	out := []map[string]any{}
	for _, t := range c.Tools {
		out = append(out, map[string]any{"type": "function", "function": map[string]any{"name": t.Name,
			"description": t.About, "parameters": t.Schema()}})
	}
	return out
}

// message returns the whole reply as a server sends it.
func message(c noise.Case) map[string]any {
	m := map[string]any{"role": "assistant", "content": c.Content}
	if c.Thoughts != "" {
		m["reasoning"], m["reasoning_content"] = c.Thoughts, c.Thoughts
	}
	calls := []map[string]any{}
	for i, n := range c.Native {
		calls = append(calls, call(i, n))
	}
	if len(calls) > 0 {
		m["tool_calls"] = calls
	}
	return m
}

func call(i int, n noise.Native) map[string]any {
	f := map[string]any{"name": n.Name, "arguments": n.Args}
	if n.Form == "object" && json.Valid([]byte(n.Args)) {
		f["arguments"] = json.RawMessage(n.Args)
	}
	out := map[string]any{"index": i, "id": "call_" + strconv.Itoa(i), "type": "function", "function": f}
	if n.Form == "flat" {
		delete(out, "function")
		maps.Copy(out, f)
	}
	return out
}
