package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// askArgument is the argument of OpenClaw's exec with which a person is asked first.
// Whatever else stands there, the gateway takes the stricter of it and its own setting.
const (
	askArgument     = "ask"
	askAlways       = `"always"`
	commandArgument = "command"
)

// askComment begins a comment after the command that says why a person is asked: OpenClaw shows them only the
// command.
const askComment = "  # gpt-oss-executor asks: "

var errNoAsk = errors.New("it has no argument with which a person is asked")

// WithAsk returns arguments that make the gateway ask a person before the call runs, with the reason why in
// the command. In a tool_call it edits the call inside. It changes no other bytes. takes reports whether a
// tool has the argument ask. The error is a *Flaw if the same could be asked about in plain commands.
func WithAsk(tool string, arguments []byte, why string, takes func(tool string) bool) ([]byte, error) {
	return editArguments(tool, arguments, func(tool string, object []byte) ([]byte, error) {
		at, raw := commandOf(object)
		if raw == nil || !takes(tool) {
			return nil, errNoAsk
		}
		text, _ := jsontext.Text(object, at)
		if f := CheckPlain(text); f != nil {
			return nil, f
		}
		comment := jsontext.AppendString(nil, askComment+oneLine(why))
		end := jsontext.Span{From: at.To - 1, To: at.To - 1} // in front of the quote
		return setAsk(splice(object, end, comment[1:len(comment)-1])), nil
	})
}

// WithoutAsk undoes WithAsk and returns the reason. It returns other arguments unchanged and an empty reason.
func WithoutAsk(tool, arguments string) (was, why string) {
	if !strings.Contains(arguments, askComment) { // of most calls
		return arguments, ""
	}
	plain, err := editArguments(tool, []byte(arguments), func(_ string, object []byte) ([]byte, error) {
		at, raw := commandOf(object)
		i := bytes.LastIndex(raw, []byte(askComment))
		if i < 0 {
			return nil, errNoAsk
		}
		why = jsontext.Unquote(raw[i+len(askComment) : len(raw)-1])
		return sjson.DeleteBytes(splice(object, jsontext.Span{From: at.From + i, To: at.To - 1}, nil),
			askArgument)
	})
	if err != nil {
		return arguments, ""
	}
	return string(plain), why
}

// oneLine joins the words of text with single blanks and drops invisible characters, so that the text cannot
// end a comment or imitate the start of one.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"),
		func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
}

// commandOf returns the last command of a call and its bytes; raw is nil if that is no string.
func commandOf(object []byte) (at jsontext.Span, raw []byte) {
	for _, at = range memberValues(object, commandArgument) {
		raw = at.Of(object)
	}
	if len(raw) == 0 || raw[0] != '"' || !gjson.ValidBytes(object) {
		return at, nil
	}
	return at, raw
}

// editArguments edits the arguments of the tool that runs: inside a tool_call, those of the inner call.
func editArguments(tool string, arguments []byte,
	edit func(tool string, object []byte) ([]byte, error)) ([]byte, error) {
	inner, args, carries := Carried(tool, arguments)
	if !carries {
		return edit(tool, arguments)
	}
	now, err := editArguments(inner, args, edit)
	if err != nil {
		return nil, err
	}
	if out := replaceCarried(arguments, args, now); out != nil {
		return out, nil
	}
	return edit(inner, arguments) // they stand beside the name
}

// replaceCarried replaces the arguments inside a tool_call; it returns nil where they stand beside the name.
func replaceCarried(outer, was, now []byte) []byte {
	for _, key := range []string{"args", "input"} {
		spans := memberValues(outer, key)
		if len(spans) == 0 {
			continue
		}
		at := spans[len(spans)-1]
		value := at.Of(outer)
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

// setAsk sets the argument ask everywhere it occurs, since the last of several counts.
func setAsk(object []byte) []byte {
	spans := memberValues(object, askArgument)
	for i := len(spans) - 1; i >= 0; i-- {
		object = splice(object, spans[i], []byte(askAlways))
	}
	if len(spans) > 0 {
		return object
	}
	open := bytes.IndexByte(object, '{') + 1
	return splice(object, jsontext.Span{From: open, To: open}, []byte(`"`+askArgument+`":`+askAlways+","))
}

// memberValues returns the values of a key in an object.
func memberValues(object []byte, key string) (out []jsontext.Span) {
	gjson.ParseBytes(object).ForEach(func(k, v gjson.Result) bool {
		if k.String() == key {
			out = append(out, jsontext.Span{From: v.Index, To: v.Index + len(v.Raw)})
		}
		return true
	})
	return out
}

// splice returns a copy of doc with the span at replaced.
func splice(doc []byte, at jsontext.Span, with []byte) []byte {
	return slices.Concat(doc[:at.From], with, doc[at.To:])
}
