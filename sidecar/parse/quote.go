package parse

import "github.com/jgavinray/gpt-oss-executor/internal/jsontext"

// objectOf is a JSON object of texts: key, value, key, value …
func objectOf(pairs ...string) string {
	out := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsontext.AppendString(out, pairs[i]), ':')
		out = jsontext.AppendString(out, pairs[i+1])
	}
	return string(append(out, '}'))
}

// quoted is text as a JSON string.
func quoted(text string) string { return string(jsontext.AppendString(nil, text)) }
