package console

import (
	"net/http"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// limited tries a draft where the admin API tries its own.
func (c *Console) limited(r *http.Request, changes bool, do func() error) error {
	return refusedBy(c.API.Drafts.Work(r.Context(), personOf(r), changes, do), "This draft was not read")
}

// personOf names who tries a draft: a session, or else an address.
func personOf(r *http.Request) string {
	if cookie, err := r.Cookie(cookieName); err == nil {
		return keyOf(cookie.Value)
	}
	return web.Address(r)
}

// draftFor is a rule file as a draft of it begins: a viewer who may not publish needs none of its secrets.
func draftFor(v viewer, text string) string {
	if v.Role < web.Admin {
		text, _ = secrets.Mask(text)
	}
	return text
}

// restored is a draft in which a line that came with masks and did not change is again that of the rule
// file: a mask in a condition would be a mistake.
func restored(text, draft string) string {
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
		lines[covered(text, from, to, masks)] = text[from:to]
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

// lineEnd is where the line ends that goes on at a place.
func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// sameLines reports whether a browser makes no difference of two texts.
func sameLines(a, b string) bool {
	return strings.ReplaceAll(a, "\r\n", "\n") == strings.ReplaceAll(b, "\r\n", "\n")
}
