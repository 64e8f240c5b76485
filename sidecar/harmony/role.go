package harmony

import (
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// Outsider says that a role cannot call tools: it is the user, the system or the developer. A tool only
// answers, but its role stands where models lost their own.
func (ws *Words) Outsider(role string) bool {
	return scan.AmongFold(role, ws.Roles) && !strings.EqualFold(role, Assistant) &&
		!strings.EqualFold(role, "tool")
}

// Foreign says that another than the assistant speaks: an outsider, or a tool that answers.
func (ws *Words) Foreign(h *Header) bool {
	switch {
	case h.Role == "" || strings.EqualFold(h.Role, Assistant):
		return false
	case h.Recipient == Assistant || ws.Outsider(h.Role):
		return true
	}
	return h.Recipient == "" && scan.AmongFold(h.Role, ws.Roles)
}

// Echo says that a message of another role may be one of the request, given once more: it has no channel and
// no recipient, and a user's is part of what the user said last, if that is known; said is that, or its
// beginning.
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

// ToChannel is the channel that a header without tokens names as its recipient, and where its body
// begins in rest, behind a content type which may be glued to it: to=final codeHello
func (ws *Words) ToChannel(rest, name string, end int, named func(string) bool) (channel string, body int) {
	if !scan.AmongFold(name, ws.Channels) || named(name) {
		return "", end
	}
	i := scan.SkipBlanks(rest, end)
	if kind, is := scan.StartsAny(rest[i:], ws.Types, true); i > end && is == scan.Yes &&
		!(i+len(kind) < len(rest) && scan.IsLower(rest[i+len(kind)])) {
		end = i + len(kind)
	}
	return strings.ToLower(name), end
}

// Address sorts out a recipient that is none: a channel, unless a tool has that name.
func (ws *Words) Address(h *Header, named func(string) bool) {
	to := strings.TrimPrefix(h.Recipient, Namespace)
	if scan.AmongFold(to, ws.Channels) && !named(h.Recipient) {
		h.Channel, h.Recipient, h.Flaw = strings.ToLower(to), "", "the channel as the recipient"
	}
}

// Peel finds the name of a tool that damage has glued to other words of the header. A role that is one says
// who speaks.
func (ws *Words) Peel(h *Header, named func(string) bool) {
	for _, w := range [...]string{h.Recipient, h.Rest, h.Channel, h.Role} {
		if name := ws.peeled(w, named); name != "" && (w != h.Role || w != name && w != Namespace+name) {
			h.Recipient, h.Flaw = name, "a name that is glued to other words"
			return
		}
	}
}

// peeled is the name that is left of a damaged word, behind other words of a header and signs that are glued
// to it: tofunctions.exec, commentary=exec. It is "" where none is named.
func (ws *Words) peeled(w string, named func(string) bool) string {
	for w != "" && !named(w) {
		rest := strings.TrimLeft(w, " =.:")
		space := []string{strings.TrimSuffix(Namespace, ".")}
		for _, words := range [...][]string{ws.Channels, ws.Roles, ws.Recipient, space} {
			for _, word := range words {
				if rest == w {
					rest = strings.TrimPrefix(w, word)
				}
			}
		}
		if rest == w {
			return ""
		}
		w = rest
	}
	return w
}
