package openai

import "fmt"

// UsageFromTimings is the usage object that llama.cpp's timings amount to when a reply
// has none: cache_n and prompt_n tokens went in, predicted_n came out. It is nil where
// they do not say what came out.
func UsageFromTimings(doc []byte, timings Span) []byte {
	var cached, fresh, out int
	told := false
	s := scan(doc, timings)
	for ok := s.Enter('{'); ok && s.Next('}'); {
		switch key, _ := s.Key(); string(key) {
		case "cache_n":
			cached = s.int(0)
		case "prompt_n":
			fresh = s.int(0)
		case "predicted_n":
			out, told = s.int(0), true
		}
	}
	if !told || s.Err != nil {
		return nil
	}
	prompt := fresh + cached
	return fmt.Appendf(nil, `{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,`+
		`"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":0}}`,
		prompt, out, prompt+out, cached)
}
