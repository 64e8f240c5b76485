package header

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Outsider says that a role is one of somebody who cannot call tools: the user, the system, the
// developer. A tool only answers, but its role stands where models lost their own.
func (ws *Words) Outsider(role string) bool {
	return scan.AmongFold(role, ws.Roles) && !strings.EqualFold(role, Assistant) && !strings.EqualFold(role, "tool")
}

// Foreign says that somebody else than the assistant speaks: an outsider, or a tool that answers.
func (ws *Words) Foreign(h *Header) bool {
	switch {
	case h.Role == "" || h.Role == Assistant:
		return false
	case h.Recipient == Assistant || ws.Outsider(h.Role):
		return true
	}
	return h.Recipient == "" && scan.AmongFold(h.Role, ws.Roles)
}

// Echo says that a message of somebody else may be one of the request, given once more. Those have
// no channel and no recipient, and what the user said last is known, or its beginning; "" is not.
func (ws *Words) Echo(h *Header, body, said string) bool {
	const long = 1 << 10 // of what is longer, only the beginning may be known
	switch {
	case !ws.Outsider(h.Role):
		return true
	case h.Channel != "" || h.Recipient != "":
		return false
	case said == "" || !strings.EqualFold(h.Role, "user"):
		return true
	}
	body, said = strings.Join(strings.Fields(body), " "), strings.Join(strings.Fields(said), " ")
	return strings.Contains(said, body) || len(said) > long && strings.HasPrefix(body, said)
}
