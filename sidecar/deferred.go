package sidecar

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// maxPrompt is how much of a system prompt is searched for deferred tools.
const maxPrompt = 256 << 10

// deferred are the tools that OpenClaw's Tool Search lists by name in the system
// prompt only. They are called through the tool named tool_call.
func deferred(req *openai.Request) []string {
	via := false
	for i := range req.Tools {
		via = via || req.Tools[i].Name == "tool_call"
	}
	if !via {
		return nil
	}
	m := &req.Messages[0]
	if m.Role != "system" && m.Role != "developer" {
		return nil
	}
	text := req.Text(m, maxPrompt)
	_, list, ok := strings.Cut(text, "Deferred Tool Schemas")
	if !ok {
		return nil
	}
	if end := strings.Index(list, "\n#"); end >= 0 {
		list = list[:end]
	}
	return strings.FieldsFunc(list, func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
}
