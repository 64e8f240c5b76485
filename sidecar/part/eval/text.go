package eval

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
)

// maxShown is how many cases the text shows; JSON and HTML have all.
const maxShown = 20

// Write writes the report for people.
func (r *Report) Write(out io.Writer) error {
	fmt.Fprintf(out, "%s\n\n", terminal.Printable(r.Headline()))
	w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	more := "unresolved\trepairs\trefused\tms"
	if r.Live() { // callers do not see repairs
		more = "tokens\tfirst ms\tms"
	}
	fmt.Fprintln(w, "  variant\tright\tcalls\tfalse\tleaks\tcontent\tthoughts\t"+more)
	for _, s := range r.Variants {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%d\t%d\t%s\t%s\t", s.Name, of(s.Right, s.Labelled),
			of(s.CallsExact, s.CallsTotal), s.FalseCalls, s.Leaks,
			of(s.ContentOK, s.ContentTotal), of(s.ReasoningOK, s.ReasoningTotal))
		if r.Live() {
			fmt.Fprintf(w, "%d\t%.0f\t%.0f\n", s.Each().Completion, s.Each().First, s.Each().Milliseconds)
		} else {
			fmt.Fprintf(w, "%s\t%d\t%d\t%.0f\n", of(s.UnresolvedOK, s.UnresolvedTotal), s.Repairs, s.Refused,
				s.Milliseconds)
		}
	}
	for i, s := range r.Variants {
		if i == 0 && s.Steady != nil {
			fmt.Fprintln(w, "\n  variant\talways right\tsometimes\tnever\tno answer")
		}
		if s.Steady != nil {
			fmt.Fprintf(w, "  %s\t%d\t%d\t%d\t%d\n", s.Name, s.Steady.Always, s.Steady.Sometimes,
				s.Steady.Never, s.Errors)
		}
	}
	for i, p := range r.Pairs {
		if i == 0 {
			fmt.Fprintln(w, "\n  pair\tboth right\tonly the first\tonly the second\tneither\tcases\tp")
		}
		fmt.Fprintf(w, "  %s, %s\t%d\t%d\t%d\t%d\t%d:%d\t%.2g\n", p.A, p.B, p.Both, p.OnlyA, p.OnlyB,
			p.Neither, p.CasesA, p.CasesB, p.P)
	}
	shown := 0
	for _, row := range r.Rows {
		if !row.Differs {
			continue
		}
		if shown++; shown > maxShown {
			continue
		}
		if err := w.Flush(); err != nil {
			return err
		}
		r.write(w, &row)
	}
	if shown > maxShown {
		fmt.Fprintf(w, "\n  and %d more cases differ; --html and --json have them all\n", shown-maxShown)
	}
	if err := w.Flush(); err != nil || len(r.NotJudged) == 0 {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", terminal.Printable(r.Ignored()))
	return err
}

// write shows the readings of a reply where they differ.
func (r *Report) write(w io.Writer, row *Row) {
	fmt.Fprintf(w, "\n  %s (%s)\n", terminal.Printable(row.ID), terminal.Printable(row.Place))
	first := &row.Made[0].Made
	thought := slices.ContainsFunc(row.Made, func(m *Made) bool { return m.Reasoning != first.Reasoning })
	ended := slices.ContainsFunc(row.Made, func(m *Made) bool {
		return m.Finish != first.Finish && (len(m.Calls) > 0) == (len(first.Calls) > 0)
	})
	for i, m := range row.Made {
		mark := ""
		if row.Labelled {
			mark = m.mark(true)
		}
		fmt.Fprintf(w, "    %s\t%s\t%s\n", r.Variants[i].Name, mark,
			terminal.Printable(m.Words(thought, ended, cli.Clipped)))
	}
	if row.Labelled {
		fmt.Fprintf(w, "    expect\t\t%s\n", terminal.Printable(cli.Clipped(fmt.Sprintf("%s", row.Want))))
	}
}

// Ignored describes the ignored keys of labels; empty: none.
func (r *Report) Ignored() string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(r.NotJudged)) {
		keys = append(keys, fmt.Sprintf("%s (%d)", key, r.NotJudged[key]))
	}
	if keys == nil {
		return ""
	}
	return "Not judged, of what the labels say, and in how many cases: " + strings.Join(keys, ", ")
}

func (r *Report) names() (out []string) {
	for _, s := range r.Variants {
		out = append(out, s.Name)
	}
	return out
}

func of(n, all int) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", n, all)
}

// mark describes a reading in one or two words.
func (m *Made) mark(labelled bool) string {
	switch {
	case !labelled:
		return m.short()
	case m.Right:
		return "right"
	case m.False > 0:
		return "FALSE CALL"
	case m.Leak:
		return "leak"
	case m.CallsOK && m.ContentOK && !m.ReasoningOK:
		return "wrong thoughts"
	case m.CallsOK && !m.UnresolvedOK:
		return "not refused"
	}
	return "wrong"
}

// short describes a reading for a narrow column.
func (m *Made) short() string {
	var names []string
	for _, c := range m.Calls {
		names = append(names, c.Name)
	}
	if len(names) > 0 {
		return strings.Join(names, " ")
	}
	if strings.TrimSpace(m.Content) != "" {
		return "text"
	}
	return "nothing"
}

type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []suite  `xml:"testsuite"`
}

type suite struct {
	Name     string  `xml:"name,attr"`
	Tests    int     `xml:"tests,attr"`
	Failures int     `xml:"failures,attr"`
	Skipped  int     `xml:"skipped,attr"`
	Time     string  `xml:"time,attr"`
	Cases    []xcase `xml:"testcase"`
}

type xcase struct {
	Name    string    `xml:"name,attr"`
	Class   string    `xml:"classname,attr"`
	Failure *xfailure `xml:"failure,omitempty"`
	Skipped *struct{} `xml:"skipped,omitempty"`
}

type xfailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the report as JUnit XML: a suite for each variant. Cases without a label are skipped.
func (r *Report) JUnit(out io.Writer) error {
	var all suites
	for i, s := range r.Variants {
		one := suite{Name: s.Name, Tests: s.Cases, Time: fmt.Sprintf("%.3f", s.Milliseconds/1000)}
		for _, row := range r.All {
			c := xcase{Name: legal(row.ID), Class: legal(s.Name + "." + row.Category)}
			switch m := row.Made[i]; {
			case !row.Labelled:
				c.Skipped = &struct{}{}
				one.Skipped++
			case !m.Right:
				c.Failure = &xfailure{m.mark(true), legal(fmt.Sprintf("%s\nmade: %s\nexpected: %s", row.Place,
					m.shown(), row.Want))}
				one.Failures++
			}
			one.Cases = append(one.Cases, c)
		}
		all.Suites = append(all.Suites, one)
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(out)
	enc.Indent("", " ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\n")
	return err
}

// legal removes characters that XML does not allow.
func legal(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0xFFFE || c == 0xFFFF {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// shown describes a reading in full.
func (m *Made) shown() string {
	var b strings.Builder
	for _, c := range m.Calls {
		fmt.Fprintf(&b, "%s %s\n", c.Name, c.Arguments)
	}
	for _, f := range m.Refused {
		fmt.Fprintf(&b, "refused: %s\n", f)
	}
	if m.Content != "" {
		b.WriteString(m.Content)
	}
	if b.Len() == 0 {
		return "nothing"
	}
	return strings.TrimRight(b.String(), "\n")
}

//go:embed page.html
var pageText string

// HTML writes the report as a self-contained page.
func (r *Report) HTML(out io.Writer) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"percent": func(n, all int) float64 {
			if all == 0 {
				return 0
			}
			return 100 * float64(n) / float64(all)
		},
		"of":    of,
		"add":   func(a, b int) int { return a + b },
		"shown": func(m *Made) string { return m.shown() },
		"want":  want,
		"in":    func(s *Sum, category string) *Sum { return s.in(category) },
		"p":     func(p float64) string { return fmt.Sprintf("%.2g", p) },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	wrong, right := r.categories()
	return page.Execute(out, struct {
		*Report
		Headline   string
		Categories []string // with a wrong reading
		AllRight   string
		Groups     []group
	}{r, r.Headline(), wrong, strings.Join(right, ", "), r.groups()})
}

// categories returns the categories of labelled cases, sorted, with their sizes: those with a wrong
// reading, and the others.
func (r *Report) categories() (wrong, right []string) {
	for _, name := range slices.Sorted(maps.Keys(r.Variants[0].Categories)) {
		n := r.Variants[0].in(name).Labelled
		switch {
		case slices.ContainsFunc(r.Variants, func(s *Sum) bool { return s.in(name).Right < n }):
			wrong = append(wrong, name)
		case n > 0:
			right = append(right, fmt.Sprintf("%s (%d)", name, n))
		}
	}
	return wrong, right
}

// group is a case with all its repetitions.
type group struct {
	ID, Category string
	Rows         []Row // in which variants differ or are wrong
	Tags         []tag // one per variant
}

type tag struct{ Text, Class string }

// groups returns the cases in which variants differ or are wrong, in order.
func (r *Report) groups() (out []group) {
	at, all := map[string]int{}, map[string][]Row{}
	for _, row := range r.All {
		id := cmp.Or(row.of, row.key)
		all[id] = append(all[id], row)
	}
	for _, row := range r.Rows {
		id := cmp.Or(row.of, row.key)
		i, known := at[id]
		if !known {
			i, at[id] = len(out), len(out)
			out = append(out, group{ID: cmp.Or(row.of, row.ID), Category: row.Category,
				Tags: r.tags(all[id])})
		}
		out[i].Rows = append(out[i].Rows, row)
	}
	return out
}

// tags returns the result of each variant for a case, or how often it was right.
func (r *Report) tags(rows []Row) (out []tag) {
	for i, v := range r.Variants {
		right := 0
		for _, row := range rows {
			right += count(row.Made[i].Right)
		}
		t := tag{Text: v.Name + ": " + rows[0].Made[i].mark(rows[0].Labelled)}
		if len(rows) > 1 && rows[0].Labelled {
			t.Text = fmt.Sprintf("%s: right in %d of %d", v.Name, right, len(rows))
		}
		switch {
		case !rows[0].Labelled:
		case right == len(rows):
			t.Class = "right"
		case right == 0:
			t.Class = "wrong"
		}
		out = append(out, t)
	}
	return out
}

func (s *Sum) in(category string) *Sum {
	if c := s.Categories[category]; c != nil {
		return c
	}
	return &Sum{}
}

// want formats the expected reading, indented.
func want(v any) string {
	if v == nil {
		return ""
	}
	doc, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return ""
	}
	return string(doc)
}
