package decisions

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

// maxProblems bounds a report.
const maxProblems = 100

// Problem is what is wrong with a log.
type Problem struct {
	Seq  uint64 `json:"seq"` // the record, or the one that should be there
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // 0: the whole file
	Why  string `json:"why"`
}

// String returns the problem for people.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: record %d: %s", p.File, p.Seq, p.Why)
	}
	return fmt.Sprintf("%s:%d: record %d: %s", p.File, p.Line, p.Seq, p.Why)
}

// Report is the result of Verify.
type Report struct {
	Records    uint64     `json:"records"`
	Segments   int        `json:"segments"`
	Signatures int        `json:"signatures"` // of an earlier version of this program; not verified
	First      uint64     `json:"first"`      // 0: there is no record
	Last       Checkpoint `json:"last"`
	Removed    uint64     `json:"removed"`    // by retention
	Lost       uint64     `json:"lost"`       // could not be written
	AfterHead  uint64     `json:"after_head"` // records after the head, while a process writes
	Problems   []Problem  `json:"problems"`
	Cut        bool       `json:"cut,omitempty"` // it was stopped: what follows Last is unknown
}

// verifier verifies a log.
type verifier struct {
	Report
	dir     string
	live    bool
	head    *Checkpoint
	expect  []Checkpoint // known places
	chain   chainChecker
	from    Checkpoint   // the record before the first one
	removed []Checkpoint // by retention, as records say
	file    string       // current file
	line    int
}

// Verify verifies a log from end to end. expect are earlier places of the log: without one, a user who
// can write to the folder could have replaced the whole log. The error is one of reading.
func Verify(dir string, expect ...Checkpoint) (*Report, error) {
	return VerifyWithin(context.Background(), dir, expect...)
}

// VerifyWithin is Verify until ctx ends.
func VerifyWithin(ctx context.Context, dir string, expect ...Checkpoint) (*Report, error) {
	v := verifier{dir: dir, live: live(dir), expect: expect}
	head, err := readHead(dir) // before the records: a process may be adding some
	v.file = filepath.Join(dir, headFile)
	switch {
	case err != nil:
		v.problem(0, "the head is damaged")
	case head == nil:
		v.problem(0, "the head is missing, so it is unknown where the log ended")
	}
	v.head = head
	list, err := segments(dir)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	for _, s := range list {
		if err := v.segment(ctx, s); err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		if v.Cut {
			return &v.Report, nil
		}
	}
	v.end()
	return &v.Report, nil
}

func (v *verifier) problem(seq uint64, why string) {
	if len(v.Problems) < maxProblems {
		v.Problems = append(v.Problems, Problem{seq, v.file, v.line, why})
	}
}

func (v *verifier) segment(ctx context.Context, s segment) error {
	v.file, v.line = s.path, 0
	v.Segments++
	if v.chain.nextSeq != 0 && s.first != v.chain.nextSeq {
		v.problem(v.chain.nextSeq, fmt.Sprintf("the file begins with record %d, so those between are missing",
			s.first))
	}
	begun := false
	err := s.lines(func(l line) bool {
		if ctx.Err() != nil {
			v.Cut = true
			return false
		}
		v.line = l.n
		r, err := l.record()
		switch {
		case !l.whole && v.live:
			return true // it is just being written
		case !l.whole:
			v.problem(v.chain.nextSeq, "its line is not finished")
			return true
		}
		if !begun && err == nil && r.Seq != s.first {
			v.problem(r.Seq, fmt.Sprintf("the file's name says that it begins with record %d", s.first))
		}
		begun = true
		v.take(&r, err)
		return true
	})
	v.line = 0
	return err
}

// take verifies one record.
func (v *verifier) take(r *Record, broken error) {
	if v.chain.nextSeq == 0 {
		if broken != nil {
			v.problem(1, broken.Error())
			return
		}
		v.First, v.from = r.Seq, Checkpoint{r.Seq - 1, r.Prev}
	}
	v.Records++
	if why := v.chain.next(r, broken); why != "" {
		v.problem(r.Seq, why)
	}
	if broken != nil {
		return
	}
	here := Checkpoint{r.Seq, r.Hash}
	v.compare(here)
	v.Last = here
	switch {
	case r.Signature != nil:
		v.Signatures++
	case r.Gap != nil:
		v.Lost += r.Gap.Lost
	case r.Removed != nil:
		v.removed = append(v.removed, *r.Removed)
	}
}

// compare compares a record with what is known of it.
func (v *verifier) compare(here Checkpoint) {
	if v.head != nil && here.Seq == v.head.Seq && here.Hash != v.head.Hash {
		v.problem(here.Seq, "the head has another hash for it")
	}
	for _, e := range v.expect {
		if here.Seq == e.Seq && here.Hash != e.Hash {
			v.problem(here.Seq, "it once had the hash "+e.Hash.String())
		}
	}
}

// end verifies the log as a whole.
func (v *verifier) end() {
	v.checkRemoved()
	switch {
	case v.head == nil:
	case v.Last.Seq < v.head.Seq:
		v.problem(v.Last.Seq+1, fmt.Sprintf("the log ends here, and its head is record %d: the records between were cut off", v.head.Seq))
	default:
		v.AfterHead = v.Last.Seq - v.head.Seq
	}
	if v.AfterHead > 0 && !v.live {
		v.problem(v.head.Seq+1, fmt.Sprintf("%d records are newer than the head: the process that wrote them was killed, or they were added", v.AfterHead))
	}
	for _, e := range v.expect {
		switch {
		case e.Seq > v.Last.Seq:
			v.problem(v.Last.Seq+1, fmt.Sprintf("the log ends here, and there once was a record %d: the records between were cut off", e.Seq))
		case e.Seq == v.from.Seq && e.Hash != v.from.Hash:
			v.problem(v.First, fmt.Sprintf("it follows on another record %d", e.Seq))
		case e.Seq < v.from.Seq:
			v.problem(e.Seq, fmt.Sprintf("record %d was removed, so this head cannot be compared: give one of record %d or later", e.Seq, v.from.Seq))
		}
	}
}

// checkRemoved checks that missing first records were removed by retention, which says so in a record.
func (v *verifier) checkRemoved() {
	if v.First <= 1 {
		return
	}
	if slices.Contains(v.removed, v.from) {
		v.Removed = v.from.Seq
		return
	}
	v.problem(v.First, fmt.Sprintf("the records before it are missing, and no record says that retention removed %d of them", v.First-1))
}

// LogReport is the report about one of several logs.
type LogReport struct {
	Dir string `json:"dir"`
	*Report
}

// CombinedReport is the result of VerifyAll.
type CombinedReport struct {
	Logs     []LogReport `json:"logs"`
	Answers  int         `json:"answers"`  // of people
	Used     int         `json:"used"`     // calls that passed with such an answer
	Problems []string    `json:"problems"` // between the logs
}

// Sound reports whether there is no problem in any log or between them.
func (t *CombinedReport) Sound() bool {
	for _, l := range t.Logs {
		if len(l.Report.Problems) > 0 {
			return false
		}
	}
	return len(t.Problems) == 0
}

// approvalUse is what the logs say of one approval.
type approvalUse struct {
	allowed bool
	granted bool     // covers more than one call
	once    bool     // a call passed with it that names no grant
	used    []string // where calls passed with it
}

// VerifyAll verifies the logs of several replicas: each one, and what they say of each other. A person
// may answer at one replica, and the call pass at another: the answer must be in one of the logs and
// is valid for one call. expect are earlier places of any of the logs. The error is one of reading.
func VerifyAll(dirs []string, expect ...Checkpoint) (*CombinedReport, error) {
	t := &CombinedReport{Problems: []string{}}
	approvals, first, whole := map[string]*approvalUse{}, map[Sum]string{}, true
	found := make([]bool, len(expect))
	for i, dir := range dirs {
		for _, other := range dirs[:i] {
			if same(dir, other) {
				return nil, fmt.Errorf("verify: %s and %s are one folder", other, dir)
			}
		}
		r, err := Verify(dir)
		if err != nil {
			return nil, err
		}
		t.Logs = append(t.Logs, LogReport{dir, r})
		whole = whole && r.First <= 1
		begun := false
		err = Read(dir, func(r *Record, broken error) bool {
			if broken != nil {
				return true // it is among the problems of its log
			}
			if !begun {
				begun = true
				if other := first[r.Hash]; other != "" {
					t.problem("%s and %s begin with the same record: one is a copy of the other", other, dir)
				}
				first[r.Hash] = dir
			}
			for i, e := range expect {
				found[i] = found[i] || e == Checkpoint{r.Seq, r.Hash}
			}
			t.note(approvals, r, fmt.Sprintf("%s: record %d", dir, r.Seq))
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	for i, e := range expect {
		if !found[i] {
			t.problem("no log has the record %d:%s: it was changed or cut off, or the log of that replica is not here", e.Seq, e.Hash)
		}
	}
	t.compare(approvals, whole)
	return t, nil
}

func (t *CombinedReport) problem(format string, args ...any) {
	if len(t.Problems) < maxProblems {
		t.Problems = append(t.Problems, fmt.Sprintf(format, args...))
	}
}

// note notes what a record says of an approval.
func (t *CombinedReport) note(all map[string]*approvalUse, r *Record, at string) {
	id := ""
	switch {
	case r.Answer != nil:
		id = r.Answer.ID
	case r.Decision != nil && r.Decision.Outcome != Refused && r.Decision.Outcome != Asked:
		id = r.Decision.Approval
	}
	if id == "" {
		return
	}
	a := all[id]
	if a == nil {
		a = &approvalUse{}
		all[id] = a
	}
	if r.Answer == nil {
		a.used, a.once = append(a.used, at), a.once || r.Decision.Grant == ""
		t.Used++
		return
	}
	t.Answers++
	a.granted = a.granted || r.Answer.State == "granted"
	a.allowed = a.allowed || a.granted || r.Answer.State == "allowed" || r.Answer.State == "used"
}

// compare checks that each call that passed with an approval had one, and no two calls the same. If
// retention has removed records, an answer may be among them.
func (t *CombinedReport) compare(all map[string]*approvalUse, whole bool) {
	for _, id := range slices.Sorted(maps.Keys(all)) {
		a := all[id]
		switch {
		case len(a.used) > 1 && !a.granted && (a.once || a.allowed):
			t.problem("%s and %s: two calls passed with one approval, %s", a.used[0], a.used[1], id)
		case len(a.used) > 0 && !a.allowed && whole:
			t.problem("%s: the call passed with approval %s, which no log says a person gave: is the log of a replica missing?",
				a.used[0], id)
		}
	}
}

// same reports whether two names are of one folder.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false // Verify, which reads it next, says so
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Lines returns the report for people.
func (r *Report) Lines() (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, p := range r.Problems {
		say("%s", p)
	}
	say("%s in %s, %d to %d", terminal.Count(int(r.Records), "record"),
		terminal.Count(r.Segments, "file"), r.First,
		r.Last.Seq)
	if r.Removed > 0 {
		say("  the first %d were removed by retention", r.Removed)
	}
	if r.Lost > 0 {
		say("  %d decisions could not be written; the log says where", r.Lost)
	}
	if r.AfterHead > 0 && len(r.Problems) == 0 {
		say("  the last %d are newer than head.json, which is written every five minutes", r.AfterHead)
	}
	if r.Signatures > 0 {
		say("  an earlier version of this program signed %s; signatures are no longer checked",
			terminal.Count(r.Signatures, "record"))
	}
	return append(out, verdict(len(r.Problems)))
}

// Lines returns the report for people.
func (t *CombinedReport) Lines() (out []string) {
	for _, l := range t.Logs {
		out = append(out, l.Dir+":")
		for _, line := range l.Report.Lines() {
			out = append(out, "  "+line)
		}
	}
	out = append(out, fmt.Sprintf("together: %s of persons, %s passed with one",
		terminal.Count(t.Answers, "answer"),
		terminal.Count(t.Used, "call")))
	out = append(out, t.Problems...)
	return append(out, verdict(len(t.Problems)))
}

func verdict(problems int) string {
	if problems > 0 {
		return terminal.Count(problems, "problem")
	}
	return "nothing was changed"
}
