package console

import (
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// atDesk tries a draft where the admin API tries its own.
func (c *Console) atDesk(r *http.Request, do func() error) error {
	return refusedBy(c.API.Desk.Work(r.Context(), personOf(r), do), "This draft was not read")
}

// personOf names who tries a draft: a session, or else an address.
func personOf(r *http.Request) string {
	if cookie, err := r.Cookie(cookieName); err == nil {
		return keyOf(cookie.Value)
	}
	return web.Address(r)
}
