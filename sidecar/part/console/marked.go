package console

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

const (
	maxMarked = 256 << 10 // bytes of a text that is split into pieces
	maxShown  = 64 << 10  // bytes of a text that a page shows
)

// piece is a part of a shown text with its meaning.
type piece struct {
	As    replay.As
	Text  string
	Title string
}

// markedText is a masked field of a reply, in pieces.
type markedText struct {
	Field  string
	Pieces []piece
	Bytes  int
	More   int  // bytes that are not shown
	Plain  bool // its pieces are unknown
}

// markedOf masks a marked text, whose pieces keep their meaning.
func markedOf(m replay.Marked) markedText {
	out := markedText{Field: string(m.Field), Bytes: len(m.Text)}
	masks, ok := masksOf(m.Text)
	if !ok {
		return plainText(string(m.Field), m.Text)
	}
	remaining := maxShown
	for _, s := range m.Spans {
		if remaining <= 0 {
			break
		}
		text := maskPiece(m.Text, s.From, s.To, masks)
		if text == "" {
			continue // inside a secret that began earlier
		}
		if len(text) > remaining {
			text = strings.ToValidUTF8(text[:remaining], "")
		}
		remaining -= len(text)
		title := string(s.As)
		if s.Says != "" {
			title += ": " + shown(s.Says)
		}
		if s.Rule != "" {
			title += " (" + s.Rule + ")"
		}
		out.Pieces = append(out.Pieces, piece{s.As, approvals.Visible(text), title})
	}
	out.More = max(0, len(m.Text)-maxShown)
	return out
}

// kindsOf returns the meanings of all pieces, without duplicates, in the order of the legend.
func kindsOf(texts []markedText) (out []replay.As) {
	for _, as := range []replay.As{replay.AsThought, replay.AsText, replay.AsHeader, replay.AsCall,
		replay.AsRepaired, replay.AsRefused, replay.AsDropped} {
		if slices.ContainsFunc(texts, func(t markedText) bool {
			return !t.Plain && slices.ContainsFunc(t.Pieces, func(p piece) bool { return p.As == as })
		}) {
			out = append(out, as)
		}
	}
	return out
}

// plainText is a text without known pieces.
func plainText(field, text string) markedText {
	all := len(text)
	masked, _ := secrets.Mask(text[:min(all, 2*maxShown)])
	masked = strings.ToValidUTF8(masked[:min(len(masked), maxShown)], "")
	return markedText{Field: field, Pieces: []piece{{replay.AsText, approvals.Visible(masked), ""}},
		Bytes: all, More: max(0, all-maxShown), Plain: true}
}

// mask is a secret in a text and its replacement.
type mask struct {
	from, to int
	put      string
}

var masked = regexp.MustCompile(`«masked:[a-z-]+:(\d{1,9})»`)

// masksOf finds the secrets of a text. ok is false if they overlap, since their places are then unclear.
func masksOf(text string) (out []mask, ok bool) {
	after, n := secrets.Mask(text)
	if n == 0 {
		return nil, true
	}
	at, done := 0, 0 // in text and after
	for _, m := range masked.FindAllStringSubmatchIndex(after, -1) {
		plain, put := after[done:m[0]], after[m[0]:m[1]]
		if !strings.HasPrefix(text[at:], plain) {
			return nil, false
		}
		at, done = at+len(plain), m[1]
		if strings.HasPrefix(text[at:], put) { // it stood there
			at += len(put)
			continue
		}
		long := 0
		for _, digit := range after[m[2]:m[3]] {
			long = 10*long + int(digit-'0')
		}
		if at+long > len(text) {
			return nil, false
		}
		out = append(out, mask{at, at + long, put})
		at += long
	}
	return out, text[at:] == after[done:]
}

// maskPiece returns a piece with its secrets masked. A secret across pieces is shown in the first.
func maskPiece(text string, from, to int, masks []mask) string {
	var b strings.Builder
	for _, m := range masks {
		if m.to <= from || m.from >= to {
			continue
		}
		if m.from >= from {
			b.WriteString(text[from:m.from])
			b.WriteString(m.put)
		}
		from = min(m.to, to)
	}
	b.WriteString(text[from:to])
	return b.String()
}

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

// rulePlace is the place of a rule and its page; other texts have no page.
type rulePlace struct{ Text, Href string }

// placePattern matches file:line or file:line:column, with an optional version of the rules.
var placePattern = regexp.MustCompile(`^([\w./-]+\.yaml):(\d+)(?::\d+)?(?:@([0-9a-f]{12}))?$`)

func placeOf(s string) rulePlace {
	m := placePattern.FindStringSubmatch(s)
	if m == nil || strings.HasPrefix(m[1], rulefile.ArmFolder+"/") { // the settings of an arm are in no file
		return rulePlace{Text: s}
	}
	text, _, _ := strings.Cut(s, "@")
	return rulePlace{text, fileHref(m[1], m[3]) + "#L" + m[2]}
}

// fileHref returns the page of a rule file, by default in the version in force.
func fileHref(name, version string) string {
	u := url.URL{Path: Root + "rules/files/" + name}
	if version != "" {
		u.RawQuery = url.Values{"version": {version}}.Encode()
	}
	return u.String()
}

// ofVersion adds the version of the rules to every place of a reply.
func (v *replyView) ofVersion(version string) {
	at := func(place *string) {
		if placeOf(*place+"@"+version).Href != "" {
			*place += "@" + version
		}
	}
	for _, calls := range [][]callView{v.Calls, v.Refused} {
		for i := range calls {
			for k := range calls[i].Repairs {
				at(&calls[i].Repairs[k].Rule)
			}
		}
	}
	for i := range v.Judged {
		j := &v.Judged[i]
		at(&j.Place)
		for k := range j.Audits {
			at(&j.Audits[k].Place)
		}
		for _, list := range [][]ruleset.Verdict{j.Holds, j.Idle} {
			for k := range list {
				at(&list[k].Place)
				eachTerm(list[k].Term, func(t *cond.Term) { at(&t.Place) })
			}
		}
	}
	if v.Tree == nil {
		return
	}
	for i := range v.Tree.Strategies {
		s := &v.Tree.Strategies[i]
		at(&s.Rule)
		for k := range s.Steps {
			eachTerm(s.Steps[k].Condition, func(t *cond.Term) { at(&t.Place) })
		}
	}
	for i := range v.Tree.Trace {
		at(&v.Tree.Trace[i].Rule)
	}
}

func eachTerm(t *cond.Term, do func(*cond.Term)) {
	if t == nil {
		return
	}
	do(t)
	for i := range t.Of {
		eachTerm(&t.Of[i], do)
	}
}
