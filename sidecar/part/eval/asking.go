package eval

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// asking is a question to one server without a known answer.
type asking struct {
	question
	of  *server
	key string
}

// open returns the questions without a known answer, in order and without duplicates: variants with the
// same rules share an answer.
func (a *answers) open(questions []question, servers []*server) (out []asking) {
	seen := map[string]bool{}
	for _, q := range questions {
		for _, s := range servers {
			key := s.key(q)
			if _, known := a.made[key]; !known && !seen[key] {
				seen[key] = true
				out = append(out, asking{q, s, key})
			}
		}
	}
	return out
}

// run is the state while questions are asked.
type run struct {
	*Live
	all int

	mu    sync.Mutex
	ended *sync.Cond // signals that one has ended
	on    int        // open questions
	over  bool       // one was cut off
	done  int
	sum   taken // of the ended ones
	most  taken // maximum of one
}

// taken is the cost of answers.
type taken struct {
	requests int
	Spent
}

// ask asks questions in parallel until all are answered, a bound is reached, ctx ends or an answer cannot
// be stored. It returns the number of answers and their cost.
func (l *Live) ask(ctx context.Context, all []asking, known *answers) (int, taken, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := run{Live: l, all: len(all)}
	r.ended = sync.NewCond(&r.mu)
	var wait sync.WaitGroup
	for _, q := range all {
		if !r.begin(ctx) {
			break
		}
		wait.Go(func() {
			if err := r.one(ctx, q, known); err != nil {
				stop(err)
			}
		})
	}
	wait.Wait()
	if l.Rewrites {
		fmt.Fprintln(l.Tell)
	}
	return r.done, r.sum, context.Cause(ctx)
}

// begin waits until another question may be asked, and reports whether it may. Each open question is
// assumed to cost as much as the most expensive one so far; so the first one is asked alone.
func (r *run) begin(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.on > 0 && (r.on >= max(1, r.Parallel) || r.Most.bounded() && (r.most.requests == 0 ||
		r.reached())) {
		r.ended.Wait()
	}
	if r.over || ctx.Err() != nil || r.reached() {
		return false
	}
	r.on++
	return true
}

// reached reports whether a bound is reached. A question that would be cut off is not asked.
func (r *run) reached() bool {
	s := r.sum.Spent
	s.Prompt, s.Completion = s.Prompt+r.on*r.most.Prompt, s.Completion+r.on*r.most.Completion
	return r.Most.reached(r.sum.requests+(r.on+1)*r.most.requests-1, s)
}

// one asks a question and stores the answer, unless it was cut off.
func (r *run) one(ctx context.Context, q asking, known *answers) error {
	made, err := q.of.ask(ctx, q.question, r.Wait)
	made.failed = err
	cut := ctx.Err() != nil || errors.Is(err, errBound)
	var kept error
	if !cut {
		kept = known.add(q.key, made)
	}
	return errors.Join(kept, r.took(&q, &made, cut))
}

// took adds the cost of an answer, and prints the progress. It fails if a bound needs counts that the
// server does not give.
func (r *run) took(q *asking, made *answered, cut bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on--
	r.ended.Signal()
	r.sum.requests += made.sent
	r.sum.add(made.Spent)
	r.most = taken{max(r.most.requests, made.sent), Spent{Prompt: max(r.most.Prompt, made.Prompt),
		Completion: max(r.most.Completion, made.Completion)}}
	if r.over = r.over || cut; cut {
		return nil
	}
	r.done++
	if made.failed != nil {
		r.tell(q.row().ID, q.of.Name, made.failed)
	}
	r.progress(r.done, r.all, r.sum.Spent)
	if r.Most.counts() && made.failed == nil && r.sum.tokens() == 0 {
		return errors.New("this model server does not say how many tokens an answer takes, so they cannot be bounded; --max-requests can")
	}
	return nil
}

// tell prints a failure at once: a server that is down shows early.
func (l *Live) tell(id, variant string, err error) {
	if l.Rewrites {
		fmt.Fprint(l.Tell, "\r\x1b[K")
	}
	fmt.Fprintf(l.Tell, "%s, %s: %v\n", id, variant, err)
}

func (l *Live) progress(done, all int, spent Spent) {
	const width = 30
	switch {
	case l.Rewrites:
		full := width * done / max(1, all)
		fmt.Fprintf(l.Tell, "\r\x1b[K[%-*s] %d of %d, %s", width, "##############################"[:full],
			done, all, l.Most.sentence(spent))
	case done == all || done/max(1, all/10) > (done-1)/max(1, all/10):
		fmt.Fprintf(l.Tell, "%d of %d, %s\n", done, all, l.Most.sentence(spent))
	}
}

// answer is the part of an answer that has been read.
type answer struct {
	begun              bool // it has a choice
	content, reasoning strings.Builder
	calls              []replay.MadeCall
	indices            []int // of the calls
	finish             string
}

// readAnswer reads an answer: a document, or a stream of events.
func readAnswer(body []byte, stream bool) (replay.Made, error) {
	var a answer
	read := a.add
	if stream {
		read = a.stream
	}
	if err := read(body); err != nil {
		return replay.Made{}, fmt.Errorf("read the answer: %w", err)
	}
	if !a.begun {
		return replay.Made{}, errors.New("the answer has no choice")
	}
	return replay.Made{Calls: a.calls, Content: a.content.String(), Reasoning: a.reasoning.String(),
		Finish: a.finish}, nil
}

// stream reads all events. A stream without [DONE] is incomplete.
func (a *answer) stream(body []byte) error {
	events := openai.NewEventReader(bytes.NewReader(body), len(body), len(body))
	defer events.Close()
	for {
		data, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the stream broke off")
		case err != nil:
			return err
		case openai.IsDone(data):
			return nil
		}
		if err := a.add(data); err != nil {
			return err
		}
	}
}

// add adds a document or a chunk.
func (a *answer) add(doc []byte) error {
	var c openai.Completion
	if err := c.Parse(doc); err != nil {
		return err
	}
	if fault, is := openai.ReadFault(doc); is {
		return errors.New(fault.Message)
	}
	for i := range c.Choices {
		ch := &c.Choices[i]
		if ch.Index != 0 {
			continue
		}
		a.begun = true
		a.content.WriteString(ch.Content.Text)
		a.reasoning.WriteString(ch.Reasoning.Text)
		a.finish = cmp.Or(ch.Finish, a.finish)
		for k := range ch.Calls {
			a.call(&ch.Calls[k])
		}
	}
	return nil
}

// call adds a call or a piece of one.
func (a *answer) call(part *openai.CallPart) {
	at := slices.Index(a.indices, part.Index)
	if at < 0 {
		at = len(a.calls)
		a.indices, a.calls = append(a.indices, part.Index), append(a.calls, replay.MadeCall{})
	}
	c := &a.calls[at]
	c.Name += part.Name
	c.Arguments = append(c.Arguments, part.Arguments...)
}

// answered is one answer of a server, as a variant read it.
type answered struct {
	replay.Made
	Spent

	failed error // why there is no answer this time
	sent   int   // number of requests
}

// answers holds the answers of earlier runs and of this one by question, and appends them to a file as JSON
// lines. An interrupted run loses at most the open answers: an incomplete line is skipped.
type answers struct {
	file *os.File // nil: they are not stored

	mu   sync.Mutex
	made map[string]answered
}

func openAnswers(path string) (*answers, error) {
	a := &answers{made: map[string]answered{}}
	if path == "" {
		return a, nil
	}
	doc, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	for line := range bytes.Lines(doc) {
		var one struct {
			Key string `json:"key"`
			answered
		}
		if json.Unmarshal(line, &one) == nil && one.Key != "" {
			a.made[one.Key] = one.answered
		}
	}
	if a.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("keep answers: %w", err)
	}
	if n := len(doc); n > 0 && doc[n-1] != '\n' {
		if _, err := a.file.WriteString("\n"); err != nil {
			return nil, errors.Join(fmt.Errorf("keep answers: %w", err), a.file.Close())
		}
	}
	return a, nil
}

// add stores an answer. A question whose answer failed is asked again next time.
func (a *answers) add(key string, one answered) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.made[key] = one
	if a.file == nil || one.failed != nil {
		return nil
	}
	line, err := json.Marshal(struct {
		Key string `json:"key"`
		answered
	}{key, one})
	if err == nil {
		_, err = a.file.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep answers: %w", err)
	}
	return nil
}

// among counts the questions with known answers.
func (a *answers) among(questions []question, servers []*server) (n int) {
	for _, q := range questions {
		for _, s := range servers {
			if _, ok := a.made[s.key(q)]; ok {
				n++
			}
		}
	}
	return n
}

func (a *answers) close() {
	if a.file != nil {
		_ = a.file.Close() // each line has been written
	}
}
