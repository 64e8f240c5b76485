package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// Live asks a model server instead of reading recorded replies: each case several times, at each
// temperature, through the serving code of each variant. So the changes of a variant to requests count too.
type Live struct {
	URL, Key     string    // of the model server, and its bearer token
	Times        int       // per temperature; 0: 1
	Temperatures []float64 // none: as the rules or the server set it
	Whole        bool      // whole answers instead of streams
	Most         Bounds
	Parallel     int           // parallel requests; 0: 1
	Answers      string        // file that keeps answers for the next run; empty: none
	Wait         time.Duration // timeout of an answer
	Tell         io.Writer     // gets the progress
	Rewrites     bool          // Tell is a terminal, whose line is rewritten

	cases []Case
}

// question is a case as it is sent to the server.
type question struct {
	Case
	temperature *float64
	time        int
}

// Read adds the cases of a corpus, which have "messages" or "user". It prints and counts lines without
// them.
func (l *Live) Read(name string, in io.Reader) (broken int, err error) {
	lines := jsontext.Reader{In: in}
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

// parseQuestion parses a case, which needs no reply.
func parseQuestion(line []byte, place string) (Case, error) {
	var rec struct {
		replay.Record
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(line, &rec); err != nil {
		return Case{}, fmt.Errorf("%s: %w", place, jsontext.Error(err))
	}
	c, err := labelled(line, place)
	if err != nil {
		return Case{}, err
	}
	if c.Record = &rec.Record; len(rec.Messages) == 0 && rec.User == "" {
		return Case{}, fmt.Errorf("%s: there is nothing to ask; give it \"user\", what the user says, or \"messages\"", place)
	}
	if c.messages = rec.Messages; c.Want != nil {
		c.Want.Unresolved = nil // callers do not see refused calls
	}
	return c, nil
}

// Run asks, and adds the answers to the report. Without a URL it does nothing.
func (l *Live) Run(ctx context.Context, r *Report, variants []Variant, world guard.World) error {
	if l.URL == "" {
		return nil
	}
	known, err := openAnswers(l.Answers)
	if err != nil {
		return err
	}
	defer known.close()
	m := meter{most: l.Most.Requests}
	servers := make([]*server, len(variants))
	for i, v := range variants {
		if servers[i], err = l.serve(v, world, &m); err != nil {
			return err
		}
		defer servers[i].close()
	}
	questions := l.questions()
	open := known.open(questions, servers)
	fmt.Fprintf(l.Tell, "%d cases, %d times each, %d variants: %d answers; %d are known, %s, %d at once\n",
		len(l.cases), max(1, l.Times)*max(1, len(l.Temperatures)), len(variants),
		len(questions)*len(variants), known.among(questions, servers), l.Most.planned(len(open)),
		max(1, l.Parallel))
	done, spent, err := l.ask(ctx, open, known)
	if err != nil {
		return err
	}
	if done < len(open) {
		fmt.Fprintf(l.Tell, "stopped behind %d requests, %s; a run with the same --answers goes on there\n",
			spent.requests, l.Most.sentence(spent.Spent))
	}
	for _, q := range questions {
		if !take(r, q, servers, known) {
			return nil
		}
	}
	return nil
}

// take adds the answers to a question to the report; ok is false if a server was not asked yet. So the
// order of answers does not change the report.
func take(r *Report, q question, servers []*server, known *answers) (ok bool) {
	row, failed := q.row(), false
	var sums []*Sum
	for i, s := range servers {
		made, asked := known.made[s.key(q)]
		switch {
		case !asked:
			return false
		case made.failed != nil:
			failed = true
			r.Variants[i].Errors++
			continue
		}
		m, sum := q.tally(s.Variant, made.Made, made.Spent)
		row.Made, sums = append(row.Made, m), append(sums, sum)
		row.Differs = row.Differs || !same(row.Made[0], m)
	}
	if !failed { // a failure of the server counts for no variant
		r.Add(row, sums)
	}
	return true
}

// questions returns all questions in order: every case once before any is repeated, so that a bound reduces
// repetitions and not cases.
func (l *Live) questions() (out []question) {
	temperatures := []*float64{nil}
	for i := range l.Temperatures {
		if i == 0 {
			temperatures = nil
		}
		temperatures = append(temperatures, &l.Temperatures[i])
	}
	for n := range max(1, l.Times) {
		for _, c := range l.cases {
			for _, t := range temperatures {
				out = append(out, question{Case: c, temperature: t, time: n + 1})
			}
		}
	}
	return out
}

// row returns the row of a question, with case, temperature and repetition.
func (q *question) row() Row {
	id := q.ID
	if q.temperature != nil {
		id += fmt.Sprintf(" at %g", *q.temperature)
	}
	row := Row{ID: fmt.Sprintf("%s, time %d", id, q.time), Category: q.Category, Place: q.Place,
		Labelled: q.Want != nil, of: id, unit: q.Place}
	if q.Want != nil {
		row.Want = q.Record.Expect
	}
	return row
}
