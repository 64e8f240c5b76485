package console

import (
	"net/http"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// limited runs do within the admin API's limit of drafts.
func (c *Console) limited(r *http.Request, changes bool, do func() error) error {
	return refusedBy(c.API.Drafts.Work(r.Context(), personOf(r), changes, do), "This draft was not read")
}

// personOf identifies who tries a draft: by session, or else by address.
func personOf(r *http.Request) string {
	if cookie, err := r.Cookie(cookieName); err == nil {
		return keyOf(cookie.Value)
	}
	return web.Address(r)
}

// draftFor returns the text with which a draft begins: masked for a viewer who may not publish.
func draftFor(v viewer, text string) string {
	if v.Role < web.Admin {
		text, _ = secrets.Mask(text)
	}
	return text
}

// unmaskLines puts the lines of the rule file back where a masked line of the draft was not changed: a mask
// in a condition would be a mistake.
func unmaskLines(text, draft string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	masks, ok := masksOf(text)
	if !ok || len(masks) == 0 {
		return draft
	}
	lines := map[string]string{}
	for from := 0; from < len(text); {
		to := lineEnd(text, from)
		for _, m := range masks {
			if m.from >= from && m.from < to && m.to > to {
				to = lineEnd(text, m.to) // it goes over several lines
			}
		}
		lines[maskPiece(text, from, to, masks)] = text[from:to]
		from = to
	}
	var out strings.Builder
	for line := range strings.Lines(draft) {
		if own, ok := lines[line]; ok {
			line = own
		}
		out.WriteString(line)
	}
	return out.String()
}

// lineEnd returns the end of the line at an offset.
func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// sameLines reports whether two texts differ at most in what a browser changes.
func sameLines(a, b string) bool {
	return strings.ReplaceAll(a, "\r\n", "\n") == strings.ReplaceAll(b, "\r\n", "\n")
}
