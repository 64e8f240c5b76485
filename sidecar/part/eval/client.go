package eval

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/noise"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// Target is an OpenAI-compatible server that a trial measures.
type Target struct {
	URL     string // base URL, such as http://127.0.0.1:8080/v1
	Key     string // bearer token; empty: none
	Model   string
	Stream  bool
	Timeout time.Duration // of a reply; 0: none
}

// Result is the result of a trial.
type Result struct {
	Table  noise.Table
	Failed map[string]int // number of unreadable replies by reason
}

// Run sends n cases to the target, beginning with a seed, and judges the replies.
func (t Target) Run(ctx context.Context, seed uint64, n int, o noise.Options) (Result, error) {
	out := Result{Failed: map[string]int{}}
	var stopped error
	out.Table = noise.Measure(seed, n, o, func(c noise.Case) noise.Got {
		if stopped = ctx.Err(); stopped != nil {
			return noise.Got{}
		}
		got, err := t.ask(ctx, c, Draw{c.Seed, o})
		if err != nil && c.Finish != "" { // a broken reply may arrive as an error
			out.Failed[err.Error()]++
		}
		return got
	})
	return out, stopped
}

// Rows returns the kinds of rows that Write can add to a table.
func Rows() []string { return []string{"op", "pair", "chain", "negative"} }

// Check returns a mistake in the fields of a target, or in by.
func (t Target) Check(by []string) error {
	for _, b := range by {
		if !slices.Contains(Rows(), b) {
			return fmt.Errorf("--by is one of %s, not %q", strings.Join(Rows(), ", "), b)
		}
	}
	if t.Timeout <= 0 {
		return errors.New("--timeout is a time such as 30s")
	}
	return nil
}

// Unread returns the number of unreadable replies.
func (r Result) Unread() (n int) {
	for _, times := range r.Failed {
		n += times
	}
	return n
}

// Write writes the table, with additional rows by kinds of Rows, and the reasons for unreadable replies.
func (r Result) Write(w io.Writer, by []string) error {
	prefixes := []string{"all"}
	for _, b := range by {
		prefixes = append(prefixes, b+" ")
	}
	if err := r.Table.Write(w, prefixes...); err != nil {
		return err
	}
	for _, why := range slices.Sorted(maps.Keys(r.Failed)) {
		if _, err := fmt.Fprintf(w, "not read %d: %s\n", r.Failed[why], why); err != nil {
			return err
		}
	}
	return nil
}

// ask sends the request of a case and reads the reply.
func (t Target) ask(ctx context.Context, c noise.Case, d Draw) (noise.Got, error) {
	body, err := json.Marshal(map[string]any{
		"model": t.Model, "stream": t.Stream, "tools": offered(c),
		"messages": []any{map[string]any{"role": "user", "content": c.User + "\n\n" + d.String()}},
	})
	if err != nil {
		return noise.Got{}, err
	}
	if t.Timeout > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, t.Timeout)
		defer done()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		strings.TrimRight(t.URL, "/")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return noise.Got{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if t.Key != "" {
		req.Header.Set("Authorization", "Bearer "+t.Key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return noise.Got{}, errors.Unwrap(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxRequest))
		return noise.Got{}, fmt.Errorf("status %d: %.120s", res.StatusCode,
			gjson.GetBytes(text, "error.message"))
	}
	if t.Stream {
		return pieces(res.Body)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxRequest))
	if err != nil || !gjson.ValidBytes(text) {
		return noise.Got{}, errors.New("the reply is no JSON")
	}
	r := reply{}
	r.add(gjson.GetBytes(text, "choices.0"), "message")
	return r.got(), nil
}

// reply is the part of a reply that has been read.
type reply struct {
	content, reasoning strings.Builder
	calls              []*noise.GotCall
	finish             string
}

// pieces reads a stream of events.
func pieces(from io.Reader) (noise.Got, error) {
	r := reply{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxRequest)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		switch data = strings.TrimSpace(data); {
		case !ok:
		case data == "[DONE]":
			return r.got(), nil
		case !gjson.Valid(data):
			return r.got(), errors.New("an event is no JSON")
		default:
			r.add(gjson.Get(data, "choices.0"), "delta")
		}
	}
	if err := lines.Err(); err != nil {
		return r.got(), errors.New("the stream broke off")
	}
	return r.got(), nil
}

// add adds a message or a piece of one.
func (r *reply) add(choice gjson.Result, key string) {
	m := choice.Get(key)
	r.content.WriteString(m.Get("content").String())
	thought := m.Get("reasoning_content")
	if !thought.Exists() {
		thought = m.Get("reasoning")
	}
	r.reasoning.WriteString(thought.String())
	for i, c := range m.Get("tool_calls").Array() {
		at := i
		if index := c.Get("index"); index.Exists() && key == "delta" {
			at = int(index.Int())
		}
		for len(r.calls) <= at && at < 256 {
			r.calls = append(r.calls, &noise.GotCall{})
		}
		if at < 0 || at >= len(r.calls) {
			continue
		}
		one := r.calls[at]
		one.Name += c.Get("function.name").String()
		one.Args = append(one.Args, c.Get("function.arguments").String()...)
	}
	if f := choice.Get("finish_reason").String(); f != "" {
		r.finish = f
	}
}

func (r *reply) got() noise.Got {
	out := noise.Got{Content: r.content.String(), Reasoning: r.reasoning.String(), Finish: r.finish}
	for _, c := range r.calls {
		out.Calls = append(out.Calls, *c)
	}
	return out
}

// errBound is the error of a question that needed a request beyond the bound. It is no failure of the
// model.
var errBound = errors.New("the bound of requests was reached")

// meter counts and limits the requests to the model server, including retries and the second requests of
// rules.
type meter struct {
	most int // 0: no limit
	sent atomic.Int64
}

// passage is an open question.
type passage struct {
	account turn.Account
	sent    atomic.Int64 // requests
	stop    context.CancelCauseFunc
}

type passageKey struct{}

func embark(ctx context.Context) (context.Context, *passage) {
	ctx, stop := context.WithCancelCause(ctx)
	way := &passage{stop: stop}
	return context.WithValue(ctx, passageKey{}, way), way
}

// watch returns the watcher of the question that caused a request.
func watch(ctx context.Context, _ *turn.Request) turn.Watcher { return passageOf(ctx) }

func (*passage) Asked(*openai.Request, string) {}
func (*passage) Listens() bool                 { return false }
func (*passage) Replied(*turn.Reply)           {}
func (p *passage) Ended(o *turn.Outcome)       { p.account = o.Account }

func passageOf(ctx context.Context) *passage { return ctx.Value(passageKey{}).(*passage) }

// pass counts a request of a question, or refuses it.
func (m *meter) pass(ctx context.Context) error {
	way := passageOf(ctx)
	if n := m.sent.Add(1); m.most > 0 && n > int64(m.most) {
		m.sent.Add(-1)
		way.stop(errBound)
		return errBound
	}
	way.sent.Add(1)
	return nil
}

// Spent is the cost of answers.
type Spent struct {
	Milliseconds float64 `json:"milliseconds"`
	First        float64 `json:"first_milliseconds,omitempty"` // until a part of it could be sent on
	Prompt       int     `json:"prompt_tokens,omitempty"`      // as the server counts
	Completion   int     `json:"completion_tokens,omitempty"`
}

func (s *Spent) add(o Spent) {
	s.Milliseconds += o.Milliseconds
	s.First += o.First
	s.Prompt += o.Prompt
	s.Completion += o.Completion
}

func (s *Spent) tokens() int { return s.Prompt + s.Completion }

// Bounds limits the cost of a run; 0: no limit.
type Bounds struct {
	Requests, Tokens int
	Cost             float64
	In, Out          float64 // price of a million tokens of prompt and completion
}

// Check returns a mistake in the bounds.
func (b *Bounds) Check() error {
	switch {
	case min(b.Requests, b.Tokens) < 0 || !(min(b.Cost, b.In, b.Out) >= 0):
		return errors.New("a bound and a price are 0 or more")
	case b.Cost > 0 && b.In+b.Out == 0:
		return errors.New("--max-cost needs prices: give --price-in and --price-out, for a million tokens each")
	}
	return nil
}

func (b *Bounds) cost(s Spent) float64 {
	return (b.In*float64(s.Prompt) + b.Out*float64(s.Completion)) / 1e6
}

// counts reports whether tokens must be counted.
func (b *Bounds) counts() bool { return b.Tokens > 0 || b.Cost > 0 }

// planned describes how many requests the questions need.
func (b *Bounds) planned(questions int) string {
	if b.Requests > 0 {
		return fmt.Sprintf("at most %d requests", b.Requests)
	}
	return fmt.Sprintf("%d requests, and what is asked again", questions)
}

// bounded reports whether there is a limit.
func (b *Bounds) bounded() bool { return b.Requests > 0 || b.counts() }

// reached reports whether a limit is reached.
func (b *Bounds) reached(requests int, s Spent) bool {
	return b.Requests > 0 && requests >= b.Requests || b.Tokens > 0 && s.tokens() >= b.Tokens || b.Cost > 0 &&
		b.cost(s) >= b.Cost
}

// sentence describes what was spent, and the limits.
func (b *Bounds) sentence(s Spent) string {
	text := fmt.Sprintf("%d tokens", s.tokens())
	if b.Tokens > 0 {
		text = fmt.Sprintf("%d of %d tokens", s.tokens(), b.Tokens)
	}
	switch cost := b.cost(s); {
	case b.Cost > 0:
		text += fmt.Sprintf(", cost %.4f of %g", cost, b.Cost)
	case b.In+b.Out > 0:
		text += fmt.Sprintf(", cost %.4f", cost)
	}
	return text
}
