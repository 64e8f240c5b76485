package openai

import "fmt"

// Usage counts tokens. Cached are those of Prompt that were in the prefix cache,
// Reasoning those of Completion that were the chain of thought.
type Usage struct{ Prompt, Completion, Total, Cached, Reasoning int }

// ReadUsage reads a usage object; what is absent is 0.
func ReadUsage(doc []byte, at Span) (u Usage) {
	s := scan(doc, at)
	for ok := s.Enter('{'); ok && s.Next('}'); {
		switch key, _ := s.Key(); string(key) {
		case "prompt_tokens":
			u.Prompt = s.int(0)
		case "completion_tokens":
			u.Completion = s.int(0)
		case "total_tokens":
			u.Total = s.int(0)
		case "prompt_tokens_details":
			u.Cached = s.member("cached_tokens")
		case "completion_tokens_details":
			u.Reasoning = s.member("reasoning_tokens")
		default:
			s.Skip()
		}
	}
	return u
}

// member reads an object, and is the whole number of one of its members.
func (s *scanner) member(name string) int {
	n := 0
	for ok := s.Enter('{'); ok && s.Next('}'); {
		if key, _ := s.Key(); string(key) == name {
			n = s.int(0)
			continue
		}
		s.Skip()
	}
	return n
}

// JSON is the usage object.
func (u Usage) JSON() []byte {
	return fmt.Appendf(nil, `{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,`+
		`"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}`,
		u.Prompt, u.Completion, u.Total, u.Cached, u.Reasoning)
}

// UsageFromTimings is what llama.cpp's timings amount to when a reply has no
// usage: cache_n and prompt_n tokens went in, predicted_n came out.
func UsageFromTimings(doc []byte, timings Span) (u Usage, ok bool) {
	s := scan(doc, timings)
	for open := s.Enter('{'); open && s.Next('}'); {
		switch key, _ := s.Key(); string(key) {
		case "cache_n":
			u.Cached = s.int(0)
		case "prompt_n":
			u.Prompt = s.int(0)
		case "predicted_n":
			u.Completion = s.int(0)
			ok = true
		default:
			s.Skip()
		}
	}
	u.Prompt += u.Cached
	u.Total = u.Prompt + u.Completion
	return u, ok && s.Err == nil
}
