package openai

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// What is wrong with the body of a request, each with its place in it. All are 400.

// NotJSON is for a body at which a scan ended with err.
func NotJSON(body []byte, err error) *Error {
	var deep *jsontext.SyntaxError
	if errors.As(err, &deep) && deep.Why == jsontext.TooDeep {
		return InvalidRequest("",
			fmt.Sprintf("The request body is nested deeper than %d levels, more than is read (%s).",
				jsontext.MaxDepth, place(body, deep.Offset)))
	}
	return InvalidRequest("", "The request body is not valid JSON: "+explain(body, err))
}

// NotUTF8 is for a body with bytes that are no text.
func NotUTF8(body []byte) *Error {
	at := 0
	for r, n := utf8.DecodeRune(body); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRune(body[at:]) {
		at += n
	}
	return InvalidRequest("", "The request body is not valid UTF-8 ("+place(body, at)+").")
}

// NoObject is for a body that is another value.
func NoObject(body []byte, at Span) *Error {
	return InvalidRequest("", "The request body must be a JSON object, not "+kindOf(body, at)+".")
}

// Wrong is for a value that is not what it must be.
func Wrong(body []byte, at Span, must, param string) *Error {
	return InvalidRequest(param, fmt.Sprintf("%s must be %s, not %s (%s).", param, must, kindOf(body, at),
		place(body, at.From)))
}

// Missing is for an object that lacks a field.
func Missing(body []byte, at Span, param string) *Error {
	return InvalidRequest(param, fmt.Sprintf("%s is missing (%s).", param, place(body, at.From)))
}

// kindOf names the JSON type of a value.
func kindOf(doc []byte, at Span) string {
	switch doc[at.From] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	if at.To-at.From > 20 {
		return "a number"
	}
	return "the number " + string(at.Of(doc))
}

// outdated refuses a member whose place another one has taken long ago.
func outdated(param, instead string, body []byte, at Span) *Error {
	return InvalidRequest(param, fmt.Sprintf("%s is the form of before %s and is not read; send %s (%s).",
		param, instead, instead, place(body, at.From)))
}
