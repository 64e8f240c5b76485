package openai

import "bytes"

// Mentions says that another role than the model and its tools wrote a tag, <reasoning>: with its
// first sign as it is or escaped, in any of the messages. It compares small letters alone.
func (q *Request) Mentions(tag string) bool {
	name := []byte(tag[1:])
	for i := range q.Messages {
		m := &q.Messages[i]
		if m.Role == "assistant" || m.Role == "tool" || !m.Content.Present() {
			continue
		}
		for raw := m.Content.Of(q.Body); ; {
			at := bytes.Index(raw, name)
			if at < 0 {
				break
			}
			if front := raw[:at]; bytes.HasSuffix(front, []byte("<")) ||
				bytes.HasSuffix(bytes.ToLower(front[max(0, at-6):]), []byte(`\u003c`)) {
				return true
			}
			raw = raw[at+len(name):]
		}
	}
	return false
}
