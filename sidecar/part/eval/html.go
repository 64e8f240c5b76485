package eval

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
)

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
