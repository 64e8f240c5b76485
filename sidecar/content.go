package sidecar

import (
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// texts are the strings that a content holds: one, or one for each part that is text.
func (r *request) texts(param string, at openai.Span) (out [][]byte) {
	if !r.given(at) {
		return nil
	}
	if r.kind(at) == '"' {
		return [][]byte{at.Of(r.doc)}
	}
	r.each(param, at, func(param string, at openai.Span) {
		part := r.object(param, at)
		if text, ok := r.partText(param, at, part); ok {
			out = append(out, text)
		} else {
			r.unusable(param, part)
		}
	})
	return out
}

// partText is the text of a part, if it is one of text.
func (r *request) partText(param string, at openai.Span, part object) ([]byte, bool) {
	switch r.word(part["type"]) {
	case "input_text", "output_text", "text", "reasoning_text", "summary_text":
		return r.text(param+".text", part["text"], at), true
	case "refusal":
		return r.text(param+".refusal", part["refusal"], at), true
	}
	return nil, false
}

// content is the content of a message or of a result, as chat completions have it.
func (r *request) content(param string, at, around openai.Span) []byte {
	switch {
	case r.kind(at) == '"':
		return at.Of(r.doc)
	case r.kind(at) != '[':
		r.wrong(param, at, around, "a string or an array of parts")
		return nil
	}
	var parts [][]byte
	var only []byte // the text, if there is nothing else
	r.each(param, at, func(param string, at openai.Span) {
		part := r.object(param, at)
		text, ok := r.partText(param, at, part)
		switch {
		case ok:
			only = text
			parts = append(parts, slices.Concat([]byte(`{"type":"text","text":`), text, []byte("}")))
		case r.word(part["type"]) == "input_image" && r.given(part["image_url"]):
			image := slices.Concat([]byte(`{"type":"image_url","image_url":{"url":`),
				r.text(param+".image_url", part["image_url"], at))
			if detail := part["detail"]; r.given(detail) {
				image = slices.Concat(image, []byte(`,"detail":`), detail.Of(r.doc))
			}
			only = nil
			parts = append(parts, append(image, "}}"...))
		default:
			r.unusable(param, part)
		}
	})
	switch {
	case len(parts) == 0:
		return []byte(`""`)
	case len(parts) == 1 && only != nil:
		return only
	}
	return slices.Concat([]byte("["), slices.Concat(commas(parts)...), []byte("]"))
}

// commas puts a comma between parts.
func commas(parts [][]byte) (out [][]byte) {
	for i, p := range parts {
		if i > 0 {
			out = append(out, []byte(","))
		}
		out = append(out, p)
	}
	return out
}

// unusable fails because of a part that gpt-oss cannot read.
func (r *request) unusable(param string, part object) {
	switch kind := r.word(part["type"]); kind {
	case "input_image":
		r.fail(param+".image_url", "is missing, and no file is stored here: send the image as a data: URL.")
	case "input_file":
		r.fail(param, "is a file, which the model cannot read: send its text as input_text.")
	default:
		r.fail(param+".type", "is %q, which cannot be used here: send input_text, output_text or input_image.", kind)
	}
}
