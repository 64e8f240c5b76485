package eval

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

// HTML writes the report as one page that needs nothing else.
func (r *Report) HTML(out io.Writer) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"percent": func(n, all int) float64 {
			if all == 0 {
				return 0
			}
			return 100 * float64(n) / float64(all)
		},
		"of":    of,
		"mark":  func(m *Made, labelled bool) string { return m.mark(labelled) },
		"shown": func(m *Made) string { return m.shown() },
		"want":  want,
		"in":    func(s *Sum, category string) *Sum { return s.in(category) },
		"p":     func(p float64) string { return fmt.Sprintf("%.2g", p) },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	return page.Execute(out, struct {
		*Report
		Headline   string
		Categories []string
	}{r, r.Headline(), r.categories()})
}

func (s *Sum) in(category string) *Sum {
	if c := s.Categories[category]; c != nil {
		return c
	}
	return &Sum{}
}

// want is what was expected, indented.
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
