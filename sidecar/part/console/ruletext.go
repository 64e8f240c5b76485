package console

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// maskedLines masks a text line by line. A secret across lines keeps their number.
func maskedLines(text string) (out []string) {
	masks, known := masksOf(text)
	from := 0
	for line := range strings.Lines(text) {
		to := from + len(line)
		if known {
			line = maskPiece(text, from, to, masks)
		} else {
			line, _ = secrets.Mask(line)
		}
		out = append(out, approvals.Visible(strings.TrimRight(line, "\r\n")))
		from = to
	}
	return out
}

// aboutOf returns the first sentence of the comment at the top of a file.
func aboutOf(text string) string {
	var words []string
	for _, line := range maskedLines(headOf(text)) {
		line = strings.TrimLeft(line, "#")
		if strings.TrimSpace(line) == "" {
			break
		}
		if !strings.Contains(line, "yaml-language-server:") {
			words = append(words, strings.Fields(line)...)
		}
	}
	all := strings.Join(words, " ")
	if i := strings.Index(all, ". "); i >= 0 {
		all = all[:i+1]
	}
	return all
}

// headOf returns the comment at the top of a rule file or template.
func headOf(text string) string {
	if rest, ok := strings.CutPrefix(text, "{{- /*"); ok {
		head, _, _ := strings.Cut(rest, "*/")
		return head
	}
	to := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		to += len(line)
	}
	return text[:to]
}

func maskedText(text string) string { return strings.Join(maskedLines(text), "\n") }

// fileDiff is the difference in one file.
type fileDiff struct {
	Name string
	What string // new, gone or changed
	Rows []diffRow
	More int  // rows that are not shown
	Same bool // the shown lines are the same
}

// diffRow is a line of a diff. Kind is add, del, hunk or empty.
type diffRow struct{ Kind, Text string }

// maxDiff is how many rows of a file a page shows.
const maxDiff = 600

// diffsOf compares two sets of files.
func diffsOf(from, to rulefile.Files) (out []fileDiff) {
	for _, name := range from.Differ(to) {
		d := fileDiff{Name: name, What: "changed"}
		switch {
		case !from.Has(name):
			d.What = "new"
		case !to.Has(name):
			d.What = "gone"
		}
		lines := Diff(maskedText(from[name]), maskedText(to[name]))
		d.Same, d.More = len(lines) == 0, max(0, len(lines)-maxDiff)
		for _, l := range lines[:len(lines)-d.More] {
			d.Rows = append(d.Rows, diffRow{map[string]string{"@": "hunk", "+": "add", "-": "del"}[l.Sign],
				l.Sign + l.Text})
		}
		out = append(out, d)
	}
	return out
}
