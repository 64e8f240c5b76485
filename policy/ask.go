package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// asking is the argument of OpenClaw's exec with which a person is asked first.
// Whatever else stands there, the gateway takes the stricter of it and its own setting.
const (
	asking  = "ask"
	always  = `"always"`
	command = "command"
)

// asks begins the comment behind a command that says why a person is asked: OpenClaw shows
// them the command, and nothing else of the call.
const asks = "  # gpt-oss-executor asks: "

// errNoAsk is why the tool of a call cannot ask a person.
var errNoAsk = errors.New("it has no argument with which a person is asked")

// WithAsk gives the arguments with which a person is asked before the call runs, and reads
// why: of a tool_call, those of the call that it carries. takes says whether a tool has the
// argument for it. All other bytes stay as they are. The error is a *plain.Flaw if they
// could be asked about the same in plain commands.
func WithAsk(tool string, arguments []byte, why string, takes func(tool string) bool) ([]byte, error) {
	return inside(tool, arguments, func(tool string, object []byte) ([]byte, error) {
		at, raw := commandOf(object)
		if raw == nil || !takes(tool) {
			return nil, errNoAsk
		}
		text, _ := jsontext.Text(object, jsontext.Span{From: at.from, To: at.to})
		if f := Check(text); f != nil {
			return nil, f
		}
		comment := jsontext.AppendString(nil, asks+oneLine(why))
		end := span{at.to - 1, at.to - 1} // in front of the quote
		return setAsk(splice(object, end, comment[1:len(comment)-1])), nil
	})
}

// WithoutAsk takes back what WithAsk has added, and gives what it said. Other arguments are
// as they were, and why is empty.
func WithoutAsk(tool, arguments string) (was, why string) {
	if !strings.Contains(arguments, asks) { // of most calls
		return arguments, ""
	}
	plain, err := inside(tool, []byte(arguments), func(_ string, object []byte) ([]byte, error) {
		at, raw := commandOf(object)
		i := bytes.LastIndex(raw, []byte(asks))
		if i < 0 {
			return nil, errNoAsk
		}
		why = jsontext.Unquote(raw[i+len(asks) : len(raw)-1])
		return sjson.DeleteBytes(splice(object, span{at.from + i, at.to - 1}, nil), asking)
	})
	if err != nil {
		return arguments, ""
	}
	return string(plain), why
}

// oneLine is a text without line breaks, double blanks and what a reader does not see. So
// it cannot end a comment, and never looks like the beginning of one.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"),
		func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
}

// commandOf is where the command of a call stands: the last one. raw is nil if it is no
// string.
func commandOf(object []byte) (at span, raw []byte) {
	for _, at = range members(object, command) {
		raw = object[at.from:at.to]
	}
	if len(raw) == 0 || raw[0] != '"' || !gjson.ValidBytes(object) {
		return at, nil
	}
	return at, raw
}

// inside edits the arguments with which a tool runs, in the call that carries it, if one
// does.
func inside(tool string, arguments []byte,
	edit func(tool string, object []byte) ([]byte, error)) ([]byte, error) {
	inner, args, carries := Carried(tool, arguments)
	if !carries {
		return edit(tool, arguments)
	}
	now, err := inside(inner, args, edit)
	if err != nil {
		return nil, err
	}
	if out := carrying(arguments, args, now); out != nil {
		return out, nil
	}
	return edit(inner, arguments) // they stand beside the name
}

// carrying is a tool_call with the arguments of the call inside of it replaced; nil where
// they stand beside the name.
func carrying(outer, was, now []byte) []byte {
	for _, key := range []string{"args", "input"} {
		spans := members(outer, key)
		if len(spans) == 0 {
			continue
		}
		at := spans[len(spans)-1]
		value := outer[at.from:at.to]
		var text string
		switch {
		case string(value) == "null":
			continue
		case json.Unmarshal(value, &text) == nil && text == string(was): // encoded twice
			return splice(outer, at, jsontext.AppendString(nil, string(now)))
		case string(value) == string(was):
			return splice(outer, at, now)
		}
		break // they are empty, and it is the members beside them that count
	}
	return nil
}

// setAsk sets the argument in an object: each time it stands there, because of several
// the last one counts.
func setAsk(object []byte) []byte {
	spans := members(object, asking)
	for i := len(spans) - 1; i >= 0; i-- {
		object = splice(object, spans[i], []byte(always))
	}
	if len(spans) > 0 {
		return object
	}
	open := bytes.IndexByte(object, '{') + 1
	return splice(object, span{open, open}, []byte(`"`+asking+`":`+always+","))
}

type span struct{ from, to int }

// members are the values of a key in an object.
func members(object []byte, key string) (out []span) {
	gjson.ParseBytes(object).ForEach(func(k, v gjson.Result) bool {
		if k.String() == key {
			out = append(out, span{v.Index, v.Index + len(v.Raw)})
		}
		return true
	})
	return out
}

// splice is a copy of doc with the bytes of a span replaced.
func splice(doc []byte, at span, with []byte) []byte {
	out := make([]byte, 0, len(doc)+len(with))
	out = append(out, doc[:at.from]...)
	out = append(out, with...)
	return append(out, doc[at.to:]...)
}
