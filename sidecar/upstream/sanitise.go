package upstream

import (
	"regexp"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/scan"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// What an upstream's text may hold and a caller must not see.
var hidden = []struct {
	match *regexp.Regexp
	put   string
}{
	{regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^\s"'<>]+`), "[address]"},
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,}`), "[key]"},
	{regexp.MustCompile(`\b(sk|hf|gsk|pk|nvapi|xai|key)[-_][\w-]{6,}`), "[key]"},
	{regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b`), "[address]"},
	{regexp.MustCompile(`\[[0-9a-fA-F:]*::?[0-9a-fA-F:]+\](:\d+)?`), "[address]"},
	{regexp.MustCompile(`\b(localhost|[\w-]+(\.[\w-]+)*\.(local|internal|lan|svc|cluster))(:\d+)?\b`), "[address]"},
	{regexp.MustCompile(`\b[\w-]+(\.[\w-]+)+:\d{2,5}\b`), "[address]"},
	{regexp.MustCompile(`(?i)\b(tcp|host|server|upstream|connect|dial|reach|from|to|at)\s+[a-z][\w-]*:\d{2,5}\b`), "$1 [address]"},
	{regexp.MustCompile(`(?:^|[\s"'(=])(?:/[\w.@+-]+){2,}/?`), " [path]"},
	{regexp.MustCompile(`\b[A-Za-z]:\\[^\s"']+`), "[path]"},
}

// shown is an upstream's text as a caller may read it: one line, at most 400
// bytes, without addresses, keys and paths.
func shown(text string) string {
	text = cut(text, 4096) // bounds the work below
	for _, s := range hidden {
		text = s.match.ReplaceAllString(text, s.put)
	}
	text = secrets.Forms(text, func(string, string) string { return "[key]" })
	return cut(strings.Join(strings.Fields(text), " "), 400)
}

// cut shortens text to at most n bytes, between characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return scan.Head(text, n) + "…"
}
