// Package prompt makes what a model reads: requests and results of tools as edits.yaml changes them, and what
// it is told of its tools: the text in front of a conversation, and, for servers that cannot call tools, the
// calls and results of the conversation in words. Templates say how. The policy judges what came, not what
// edits made of it. It is pure, and reads no reply.
package prompt

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// Ext ends the names of files that are templates. All others are plain text.
const Ext = ".tmpl"

// Prompt is one file: a text, or a template that names the tools. A template may define how
// calls, results and answers are written. It never changes.
type Prompt struct {
	text string
	t    *template.Template // nil: the text is plain
}

// The forms that a template may define.
const (
	callsForm   = "calls"
	resultsForm = "results"
	answerForm  = "answer"
)

// Facts is what a prompt may say. The sample that every template is tried with has all of it.
type Facts struct {
	Model string // as the caller names it
	Tools []Tool // in the order in which they are offered

	Now time.Time
}

// Date is the day. A template that names it changes every day, and with it all that the
// server has cached.
func (f Facts) Date() string { return f.Now.Format(time.DateOnly) }

// Reply is what the form of calls may say.
type Reply struct {
	Text  string // before the calls
	Calls []Call
}

// Call is one call of a reply. Arguments is a JSON object.
type Call struct {
	Name, Arguments string
	Pairs           []Pair
}

// Pair is one argument: a string as it is, else JSON.
type Pair struct{ Key, Value string }

// Results is what the form of results may say.
type Results struct{ Results []Result }

// Result is that of one call.
type Result struct{ Name, Text string }

// Answer is what the form of answers may say.
type Answer struct{ Text string }

// Fault is what is wrong with a prompt.
type Fault struct {
	Line      int // from 1
	Msg, Hint string
}

// Plain is a text that is told as it is.
func Plain(text string) (*Prompt, *Fault) {
	if f := unreadable(text); f != nil {
		return nil, f
	}
	return &Prompt{text: text}, nil
}

// unreadable is what keeps a file from being a text that a model can be told; nil: nothing.
func unreadable(text string) *Fault {
	if strings.TrimSpace(text) == "" {
		return &Fault{1, "this file is empty", "write what the model is told, or delete the file"}
	}
	for i, line := range strings.Split(text, "\n") {
		if !utf8.ValidString(line) {
			return &Fault{i + 1, "this is not text in UTF-8", "save the file as UTF-8"}
		}
		if strings.ContainsFunc(strings.TrimSuffix(line, "\r"),
			func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
			return &Fault{i + 1, "this line holds a control character",
				"delete it, or save the file as UTF-8"}
		}
	}
	return nil
}

// Compile reads a template, and tries it with a sample.
func Compile(text string) (*Prompt, *Fault) {
	if f := unreadable(text); f != nil {
		return nil, f
	}
	t, err := template.New("prompt").Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		return nil, faultOf(err)
	}
	p := &Prompt{text, t}
	for _, try := range p.samples() {
		if _, err := p.write(try.form, try.facts); err != nil {
			f := faultOf(err)
			if try.bare {
				f.Msg += ", where no tool is offered"
				f.Hint = "put {{if .Tools}} … {{end}} around it"
			}
			return nil, f
		}
	}
	return p, nil
}

// IsStyle reports whether it says how calls and results are written.
func (p *Prompt) IsStyle() bool { return p.has(callsForm) && p.has(resultsForm) }

// Text is the file.
func (p *Prompt) Text() string { return p.text }

// Say is the text in front of a conversation.
func (p *Prompt) Say(f Facts) (string, error) {
	if p.t == nil {
		return p.text, nil
	}
	said, err := p.write("", f)
	return strings.TrimSpace(said), err
}

func (p *Prompt) has(form string) bool { return p.t != nil && p.t.Lookup(form) != nil }

// most is how long what a template writes may be, in bytes, beside what it is given.
const most = 4 << 20

var errLong = errors.New("the template writes more than 4 MiB")

// bounded is a text that does not grow without end.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > most {
		return 0, errLong
	}
	return b.Builder.Write(p)
}

// write executes a form; "" is the template itself.
func (p *Prompt) write(form string, data any) (string, error) {
	var out bounded
	t := p.t
	if form != "" {
		t = t.Lookup(form)
	}
	if err := t.Execute(&out, data); err != nil {
		return "", fmt.Errorf("write the prompt: %w", err)
	}
	return out.String(), nil
}

var functions = template.FuncMap{
	"json":   jsontext.Quote,
	"quoted": quoted,
	"fenced": fenced,
	"trim":   strings.TrimSpace,
}

// fenced is a text between two fences of backticks, longer than any in it: nothing in the text ends it.
func fenced(text string) string {
	longest, run := 2, 0
	for _, b := range []byte(text) {
		if run++; b != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "\n" + text + "\n" + fence
}

// quoted is a value of [TOOL:name|key=value]: in quotes where it would end the marker.
func quoted(text string) string {
	if !strings.ContainsAny(text, "|]\n") {
		return text
	}
	if strings.Contains(text, `"`) && !strings.Contains(text, "'") {
		return "'" + text + "'"
	}
	return `"` + text + `"`
}

// Places and words in the errors of text/template.
var (
	errPlace = regexp.MustCompile(`^(?:write the prompt: )?template: \w*:(\d+)(?::\d+)?:\s*`)
	errAt    = regexp.MustCompile(`^executing "[^"]*" at <[^>]*>:\s*`)
	errField = regexp.MustCompile(`can't evaluate field (\w+) in type (?:\[\])?\*?prompt\.(\w+)`)
)

// faultOf takes the line out of an error, and says what a template could name instead.
func faultOf(err error) *Fault {
	f := &Fault{Line: 1, Msg: err.Error()}
	if place := errPlace.FindStringSubmatch(f.Msg); place != nil {
		f.Line, _ = strconv.Atoi(place[1])
		f.Msg = f.Msg[len(place[0]):]
	}
	f.Msg = without(f.Msg, errAt)
	f.Hint = "the syntax is that of Go's text/template"
	if field := errField.FindStringSubmatch(f.Msg); field != nil {
		f.Msg = "there is no field ." + field[1] + " here"
		f.Hint = "there are " + fields[field[2]]
	}
	return f
}

func without(s string, re *regexp.Regexp) string {
	return s[len(re.FindString(s)):]
}

// fields are what a template may name, by the type that it has in hand.
var fields = map[string]string{
	"Facts":    ".Model, .Tools and .Date",
	"Tool":     ".Name, .Description, .Schema, .Required, .Arguments and .Example",
	"Argument": ".Name, .Type, .Description, .Required and .Example",
	"Reply":    ".Text and .Calls",
	"Call":     ".Name, .Arguments and .Pairs",
	"Pair":     ".Key and .Value",
	"Results":  ".Results",
	"Result":   ".Name and .Text",
	"Answer":   ".Text",
}
