package experiment

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// readReports returns the reports of every experiment by the sum of files. It writes to tell which counts
// the rules do not know; if there are no others, that is an error.
func readReports(set *ruleset.Set, tell io.Writer, files ...*File) ([]Report, error) {
	out := (&Tracker{}).Reports(set, files...)
	if err := unknownIn(set, files...); err != nil {
		if len(out) == 0 {
			return nil, err
		}
		fmt.Fprintln(tell, err)
	}
	return out, nil
}

// writeReports prints reports for people, with all measures if all is set.
func writeReports(out io.Writer, reports []Report, all bool, now time.Time) error {
	if len(reports) == 0 {
		_, err := fmt.Fprintln(out, "There is no experiment: rules/experiments.yaml shows how to begin one.")
		return err
	}
	for i := range reports {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := reports[i].write(out, all, now); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) write(out io.Writer, all bool, now time.Time) error {
	fmt.Fprintf(out, "%s  %s\n  %s\n", r.ID, r.state(now), terminal.Printable(r.About))
	w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  arm\tshare\t%ss\t%s\tagainst %s\n", r.Unit, r.Measure, r.Arms[0].Name)
	for _, a := range r.Arms {
		value, words := "-", ""
		if m := a.Of(r.Measure); m != nil {
			value, words = m.Verdict(), m.Compared()
		}
		fmt.Fprintf(w, "  %s\t%.0f %%\t%d\t%s\t%s\n", a.Name, 100*a.Share, a.Units, value, words)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	switch {
	case r.Trouble != "":
		fmt.Fprintf(out, "  Mind: %s\n", terminal.Printable(r.Trouble))
	case r.Units == 0 && r.Status == Running:
		fmt.Fprintf(out, "  Nobody is in it yet. Requests must name their %s%s.\n", r.Unit, namedIn[r.Unit])
	}
	if r.Repeats {
		fmt.Fprintf(out, "  Mind: more than %d %ss came, so some of them may be counted twice. Begin another phase.\n", maxCounted, r.Unit)
	}
	if s := r.Shadow; s != nil {
		fmt.Fprintf(out, "  shadow: %d of %d replies are read otherwise\n", s.Differs, s.Read)
	}
	if !all {
		return nil
	}
	fmt.Fprintln(out)
	w = tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	for _, m := range Measures() {
		row := false
		for _, a := range r.Arms {
			if of := a.Of(m.ID); of != nil {
				name := ""
				if !row {
					name, row = m.ID, true
				}
				fmt.Fprintf(w, "  %s\t%s\t%s\tof %.0f\t%s\n", name, a.Name, of.Verdict(), of.N, of.Compared())
			}
		}
	}
	return w.Flush()
}

// namedIn maps a unit to where requests name it.
var namedIn = map[string]string{
	bySession: ": a gateway does, others by the header session_id",
	byUser:    ": their field user",
}

// state describes the state of an experiment on one line.
func (r *Report) state(now time.Time) string {
	parts := []string{r.Status, fmt.Sprintf("phase %d", r.Phase)}
	if !r.Began.IsZero() {
		parts = append(parts, fmt.Sprintf("day %d", int(now.Sub(r.Began).Hours()/24)+1),
			fmt.Sprintf("%d %ss", r.Units, r.Unit))
		if r.Shadow == nil {
			parts = append(parts, r.split())
		}
	}
	if r.Why != "" {
		parts = append(parts, "because "+terminal.Printable(r.Why))
	}
	if r.By != "" {
		parts = append(parts, "by "+terminal.Printable(r.By))
	}
	return strings.Join(parts, ", ")
}

func (r *Report) split() string {
	var counts []string
	for _, a := range r.Arms {
		counts = append(counts, fmt.Sprint(a.Units))
	}
	verdict := " ok"
	if r.Split < SplitOff {
		verdict = " OFF: do not trust this"
	}
	return "split " + strings.Join(counts, "/") + verdict
}

// Of returns the result of a measure; nil if it was not counted.
func (a *Arm) Of(measure string) *Measured {
	for i := range a.Measures {
		if a.Measures[i].ID == measure {
			return &a.Measures[i]
		}
	}
	return nil
}

// Verdict formats the value with its unit.
func (m *Measured) Verdict() string {
	if m.Unit == "" {
		return fmt.Sprintf("%.1f %%", 100*m.Value)
	}
	return fmt.Sprintf("%.1f %s", m.Value, m.Unit)
}

// Compared describes the verdict and the interval, if known.
func (m *Measured) Compared() string {
	f := m.Against
	if f == nil || f.Kind != Early || f.Low == f.High {
		return m.Words
	}
	return fmt.Sprintf("%s (%s)", m.Words, f.Interval(m.Unit))
}
