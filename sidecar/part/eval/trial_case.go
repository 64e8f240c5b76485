package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

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
	if d.Options.Arguments {
		b = append(b, " arguments"...)
	}
	if d.Options.Negatives {
		b = append(b, " negatives"...)
	}
	return string(append(b, ']'))
}

var mark = regexp.MustCompile(`\[noise (\d+)((?: [a-z=,0-9._-]+)*)\]`)

// FindDraw finds the last draw in a text, of calls in frames. The error describes a mistake in it.
func FindDraw(text string, frames []noise.Frame) (d Draw, ok bool, err error) {
	d.Options.Frames = frames
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
		case "arguments":
			d.Options.Arguments = true
		case "negatives":
			d.Options.Negatives = true
		default:
			err = fmt.Errorf("%q: write chain=, mix=, only=, without=, arguments or negatives", word)
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

// Model is the name of the server's model, without frames of another family.
const Model = "gpt-oss-noise"

func modelOf(frames []noise.Frame) string {
	if len(frames) > 0 {
		return frames[0].Model
	}
	return Model
}

// maxRequest is the maximal size of a request, in bytes.
const maxRequest = 32 << 20

// Server returns a model server that answers each request with the case in its last user message. If it is
// asked again in the same conversation, it sends the case without damage. Calls are written in the frames.
func Server(frames []noise.Frame) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, map[string]any{"object": "list",
			"data": []any{map[string]any{"id": modelOf(frames), "object": "model", "owned_by": "noise"}}})
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		complete(w, r, frames)
	})
	return mux
}

func complete(w http.ResponseWriter, r *http.Request, frames []noise.Frame) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil || !gjson.ValidBytes(body) {
		fail(w, "the request is no JSON object, or too large")
		return
	}
	draw, again, err := asked(gjson.ParseBytes(body), frames)
	if err != nil {
		fail(w, err.Error())
		return
	}
	if again {
		draw.Options = noise.Options{Negatives: draw.Options.Negatives, Frames: frames}
	}
	c := noise.New(draw.Seed, draw.Options)
	if gjson.GetBytes(body, "stream").Bool() {
		stream(w, c, modelOf(frames))
		return
	}
	if c.Finish == "" {
		panic(http.ErrAbortHandler) // the connection breaks
	}
	send(w, http.StatusOK, map[string]any{
		"id": fmt.Sprint("noise-", c.Seed), "object": "chat.completion", "created": 0,
		"model": modelOf(frames), "usage": usage(c),
		"choices": []any{map[string]any{"index": 0, "message": message(c), "finish_reason": c.Finish}},
	})
}

// asked returns the case of a request. again means that the conversation has an answer to it.
func asked(request gjson.Result, frames []noise.Frame) (d Draw, again bool, err error) {
	found := false
	for _, m := range request.Get("messages").Array() {
		text := m.Get("content").Raw
		next, ok, wrong := FindDraw(text, frames)
		switch {
		case ok && m.Get("role").Str == "user":
			d, found, again, err = next, true, false, wrong
		case found:
			again = true
		}
	}
	if !found {
		return d, false, fmt.Errorf("no user message names a case: write one such as %s into it",
			Draw{Seed: 17, Options: noise.Options{Chain: 1}})
	}
	return d, again, err
}

// stream sends a case in pieces.
func stream(w http.ResponseWriter, c noise.Case, model string) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	event := func(choice map[string]any, more map[string]any) {
		doc := map[string]any{"id": fmt.Sprint("noise-", c.Seed), "object": "chat.completion.chunk",
			"created": 0, "model": model, "choices": []any{choice}}
		for k, v := range more {
			doc[k] = v
		}
		text, _ := json.Marshal(doc)
		fmt.Fprintf(w, "data: %s\n\n", text)
		_ = flush.Flush() // an error means that the reader is gone
	}
	event(map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "content": ""},
		"finish_reason": nil}, nil)
	begun, half := map[int]bool{}, ""
	for _, d := range c.Deltas {
		for _, text := range []*string{&d.Content, &d.Thoughts, &d.Args} {
			if *text != "" {
				*text, half = characters(half + *text)
			}
		}
		event(map[string]any{"index": 0, "delta": delta(d, begun), "finish_reason": nil}, nil)
	}
	if c.Finish == "" {
		panic(http.ErrAbortHandler)
	}
	event(map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": c.Finish},
		map[string]any{"usage": usage(c)})
	io.WriteString(w, "data: [DONE]\n\n")
}

// characters cuts off an incomplete character at the end of s, which JSON cannot hold.
func characters(s string) (whole, half string) {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if at := len(s) - n; utf8.RuneStart(s[at]) {
			if !utf8.FullRuneInString(s[at:]) {
				return s[:at], s[at:]
			}
			break
		}
	}
	return s, ""
}

// delta returns a piece as a server sends it. The first piece of a call has its id.
func delta(d noise.Delta, begun map[int]bool) map[string]any {
	out := map[string]any{}
	if d.Content != "" {
		out["content"] = d.Content
	}
	if d.Thoughts != "" {
		out["reasoning"], out["reasoning_content"] = d.Thoughts, d.Thoughts
	}
	if d.Call > 0 {
		one := call(d.Call-1, noise.Native{Name: d.Name, Args: d.Args})
		if begun[d.Call] {
			one = map[string]any{"index": d.Call - 1, "function": map[string]any{"arguments": d.Args}}
		}
		begun[d.Call] = true
		out["tool_calls"] = []any{one}
	}
	return out
}

func usage(c noise.Case) map[string]any {
	const perToken = 4
	in, out := len(c.User)/perToken+1, (len(c.Content)+len(c.Thoughts))/perToken+1
	return map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
}

func fail(w http.ResponseWriter, why string) {
	send(w, http.StatusBadRequest,
		map[string]any{"error": map[string]any{"message": why, "type": "invalid_request_error"}})
}

func send(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	text, _ := json.Marshal(doc)
	_, _ = w.Write(text) // an error means that the reader is gone
}
