// Package prompt makes what a model reads: requests and results as edited by edits.yaml, and what it is
// told of its tools: the text before a conversation and, for servers without tool calls, the
// conversation's calls and results in words, by templates. The policy judges the original, not the
// edited text. The package is pure and reads no reply.
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

// Ext is the file extension of templates. Other files are plain text.
const Ext = ".tmpl"

// Prompt is one immutable file: a text, or a template that names the tools and may define how calls,
// results and answers are written.
type Prompt struct {
	text string
	t    *template.Template // nil: plain text
}

// The forms that a template may define.
const (
	callsForm   = "calls"
	resultsForm = "results"
	answerForm  = "answer"
)

// Facts are the data of a prompt. Every template is tried with a sample that has all of it.
type Facts struct {
	Model string // as the caller names it
	Tools []Tool // in the order offered

	Now time.Time
}

// Date is the day. A template with it changes daily, which invalidates the server's cache.
func (f Facts) Date() string { return f.Now.Format(time.DateOnly) }

// Reply is the data of the form of calls.
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

// Results is the data of the form of results.
type Results struct{ Results []Result }

// Result is the result of one call.
type Result struct{ Name, Text string }

// Answer is the data of the form of answers.
type Answer struct{ Text string }

// Fault is a mistake in a prompt.
type Fault struct {
	Line      int // from 1
	Msg, Hint string
}

// Plain returns a plain text.
func Plain(text string) (*Prompt, *Fault) {
	if f := unreadable(text); f != nil {
		return nil, f
	}
	return &Prompt{text: text}, nil
}

// unreadable returns why a file is no text for a model, or nil.
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

// Compile compiles a template and tries it with a sample.
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

// IsStyle reports whether it defines how calls and results are written.
func (p *Prompt) IsStyle() bool { return p.has(callsForm) && p.has(resultsForm) }

// Text returns the file.
func (p *Prompt) Text() string { return p.text }

// Say returns the text before a conversation.
func (p *Prompt) Say(f Facts) (string, error) {
	if p.t == nil {
		return p.text, nil
	}
	text, err := p.write("", f)
	return strings.TrimSpace(text), err
}

func (p *Prompt) has(form string) bool { return p.t != nil && p.t.Lookup(form) != nil }

// most bounds the output of a template in bytes, beyond its input.
const most = 4 << 20

var errLong = errors.New("the template writes more than 4 MiB")

// bounded is a text of limited size.
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

// fenced puts a text between two fences of backticks longer than any in it.
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

// quoted returns a value of [TOOL:name|key=value], in quotes if it would end the marker.
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

// faultOf takes the line out of an error, and lists what a template may name instead.
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

// fields are the names that a template may use, by type.
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
