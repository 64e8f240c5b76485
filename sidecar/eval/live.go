package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonlines"
	"github.com/jgavinray/gpt-oss-executor/internal/plainjson"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// Live asks a model server anew, in place of reading what was recorded: each case several times,
// at each temperature, through the serving code of each variant. So what a variant sets of a
// request counts, too.
type Live struct {
	URL, Key     string        // of the model server, and its bearer token
	Times        int           // at each temperature; 0: 1
	Temperatures []float64     // none: that of the rules, or the server's own
	Most         int           // requests; 0: as many as it takes
	Answers      string        // file of what was answered, for the next time; empty: none
	Wait         time.Duration // for one answer
	Tell         io.Writer     // how far it is
	Rewrites     bool          // Tell is a terminal: one line says it

	cases []Case
}

// question is a case as the server is asked it.
type question struct {
	Case
	temperature *float64
	time        int
}

// Read takes in the cases of a corpus. A case is asked with its "messages", or its "user". Lines that
// cannot be asked are told, and counted.
func (l *Live) Read(name string, in io.Reader) (broken int, err error) {
	lines := jsonlines.Reader{In: in}
	for line := range lines.All() {
		c, err := parseQuestion(line.Text, fmt.Sprintf("%s:%d", name, line.N))
		if err != nil {
			broken++
			fmt.Fprintln(l.Tell, err)
			continue
		}
		l.cases = append(l.cases, c)
	}
	return broken, lines.Err
}

// parseQuestion reads a case that need not have a reply.
func parseQuestion(line []byte, place string) (Case, error) {
	var rec struct {
		replay.Record
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(line, &rec); err != nil {
		return Case{}, fmt.Errorf("%s: %w", place, plainjson.Error(err))
	}
	c, err := labelled(line, place)
	if err != nil {
		return Case{}, err
	}
	if c.Record = &rec.Record; len(rec.Messages) == 0 && rec.User == "" {
		return Case{}, fmt.Errorf("%s: there is nothing to ask; give it \"user\", what the user says, or \"messages\"", place)
	}
	if c.messages = rec.Messages; c.Want != nil {
		c.Want.Unresolved = nil // a caller does not see what was refused
	}
	return c, nil
}

// Run asks, and adds to the report what came of it. Without a URL there is nothing to do.
func (l *Live) Run(ctx context.Context, r *Report, variants []Variant, world guard.World) error {
	if l.URL == "" {
		return nil
	}
	known, err := openAnswers(l.Answers)
	if err != nil {
		return err
	}
	defer known.close()
	servers := make([]*server, len(variants))
	for i, v := range variants {
		if servers[i], err = l.serve(v, world); err != nil {
			return err
		}
		defer servers[i].close()
	}
	questions := l.questions()
	all := len(questions) * len(variants)
	fmt.Fprintf(l.Tell, "%d cases, %d times each, %d variants: %d answers; %d are known, at most %d requests\n", len(l.cases), max(1, l.Times)*max(1, len(l.Temperatures)), len(variants), all, known.among(questions, servers), cmp.Or(l.Most, all))
	asked, done := 0, 0
	for _, q := range questions {
		row, sums := q.row()
		failed := false
		for i, s := range servers {
			key := s.key(q)
			made, ok := known.made[key]
			if !ok {
				if l.Most > 0 && asked >= l.Most {
					fmt.Fprintf(l.Tell, "stopped behind %d requests; ask again with the same --answers to go on\n", asked)
					return nil
				}
				asked++
				began := time.Now()
				answer, err := s.ask(ctx, q, l.Wait)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err != nil {
					failed = true
					r.Variants[i].Errors++
					fmt.Fprintf(l.Tell, "%s, %s: %v\n", row.ID, s.Name, err)
					continue
				}
				made = answered{Made: *answer, Milliseconds: float64(time.Since(began)) / float64(time.Millisecond)}
				if err := known.add(key, made); err != nil {
					return err
				}
			}
			m, sum := q.tally(s.Variant, made.Made, made.Milliseconds)
			row.Made, sums = append(row.Made, m), append(sums, sum)
			row.Differs = row.Differs || !same(row.Made[0], m)
			done++
		}
		if !failed { // what the server could not answer is no miss of anybody
			r.Add(row, sums)
		}
		l.progress(done, all)
	}
	if l.Rewrites {
		fmt.Fprintln(l.Tell)
	}
	return nil
}

// questions are all that is to be asked, in order.
func (l *Live) questions() (out []question) {
	temperatures := []*float64{nil}
	for i := range l.Temperatures {
		if i == 0 {
			temperatures = nil
		}
		temperatures = append(temperatures, &l.Temperatures[i])
	}
	for _, c := range l.cases {
		for _, t := range temperatures {
			for n := range max(1, l.Times) {
				out = append(out, question{Case: c, temperature: t, time: n + 1})
			}
		}
	}
	return out
}

// row is a question in the report: its case, the temperature, and which time it is.
func (q *question) row() (Row, []*Sum) {
	id := q.ID
	if q.temperature != nil {
		id += fmt.Sprintf(" at %g", *q.temperature)
	}
	row := Row{ID: fmt.Sprintf("%s, time %d", id, q.time), Category: q.Category, Place: q.Place, Labelled: q.Want != nil, of: id}
	if q.Want != nil {
		row.Want = q.Record.Expect
	}
	return row, nil
}

func (l *Live) progress(done, all int) {
	const width = 30
	switch {
	case l.Rewrites:
		full := width * done / max(1, all)
		fmt.Fprintf(l.Tell, "\r[%-*s] %d of %d", width, "##############################"[:full], done, all)
	case done == all || done/max(1, all/10) > (done-1)/max(1, all/10):
		fmt.Fprintf(l.Tell, "%d of %d\n", done, all)
	}
}
