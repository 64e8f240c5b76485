package decisions

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
)

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
