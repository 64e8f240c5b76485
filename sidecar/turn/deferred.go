package turn

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// maxPrompt is how much of a system prompt is searched for deferred tools.
const maxPrompt = 256 << 10

// deferredHeading begins the list, an entry a line: "- name (owner): what it does".
// OpenClaw 2026.9.6 writes it into the system prompt.
const deferredHeading = "Available deferred-schema tools:"

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
	_, list, ok := strings.Cut(req.Text(m, maxPrompt), deferredHeading)
	if !ok {
		return nil
	}
	var names []string
	for line := range strings.Lines(strings.TrimLeft(list, "\n")) {
		entry, ok := strings.CutPrefix(line, "- ")
		if !ok {
			break
		}
		if end := strings.IndexAny(entry, " :\r\n"); end >= 0 {
			entry = entry[:end]
		}
		if entry != "" {
			names = append(names, strings.Clone(entry)) // and not all of the prompt
		}
	}
	return names
}
