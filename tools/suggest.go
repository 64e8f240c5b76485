package tools

import (
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
)

// gatewayAliases are names that OpenClaw itself takes for others.
var gatewayAliases = map[string]string{"bash": "exec", "cron": "automations"}

// Suggests reports whether OpenClaw could take name for an offered or deferred tool: in any case, within
// a namespace, with a number behind it.
func (c *Catalog) Suggests(name string) bool {
	for _, part := range nameParts(scan.Head(name, maxNameBytes)) {
		if c.isTool(part) || c.isTool(strings.TrimRight(part, "0123456789")) {
			return true
		}
	}
	return false
}

// isTool reports whether part, in any spelling, is the name of a tool.
func (c *Catalog) isTool(part string) bool {
	for _, prefix := range []string{"", "functions", "function", "tools", "tool"} {
		name, ok := strings.CutPrefix(plainKey(part), prefix)
		if !ok || name == "" {
			continue
		}
		if of, ok := gatewayAliases[name]; ok {
			name = of
		}
		is := func(tool string) bool { return plainKey(tool) == name }
		if slices.ContainsFunc(c.offered, func(t Tool) bool { return is(t.Name) }) ||
			slices.ContainsFunc(c.deferred, is) {
			return true
		}
	}
	return false
}

// nameParts returns name, and the parts before and behind each of its separators.
func nameParts(name string) []string {
	out := []string{name}
	for i := range len(name) {
		if strings.IndexByte(".:/", name[i]) >= 0 {
			out = append(out, name[:i], name[i+1:])
		}
	}
	return out
}

// plainKey is key without dots and colons.
func plainKey(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key(name), ".", ""), ":", "")
}
