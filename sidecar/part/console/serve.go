package console

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

const (
	maxForm  = 16 << 10         // bytes of a form
	formTime = 10 * time.Second // in which it must have come
)

// contentPolicy lets a page load and run only the program's own files. No script can turn text into markup.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// trouble is an error that a page explains.
type trouble struct {
	status      int
	title, text string
}

func (t *trouble) Error() string { return t.title + ": " + t.text }

// detour is a trouble with a page that leads on.
type detour struct {
	*trouble
	way pair
}

func (d *detour) Unwrap() error { return d.trouble }

// guard handles every request for the console first.
func (c *Console) guard(w http.ResponseWriter, r *http.Request, next http.Handler) {
	for name, value := range map[string]string{
		// with no-referrer a form would have the origin null
		"Content-Security-Policy": contentPolicy, "X-Content-Type-Options": "nosniff",
		"X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",

		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control": "no-store",
	} {
		w.Header().Set(name, value)
	}
	if err := c.refuse(r); err != nil {
		c.fail(w, r, viewer{}, err)
		return
	}
	if r.Body != nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
		// A recorder of a test has no connection, and no deadline.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formTime))
		r.Body = http.MaxBytesReader(w, r.Body, cmp.Or(c.forms[r.URL.Path], maxForm))
	}
	next.ServeHTTP(w, r)
}

// refuse returns why a request is not handled at all, or nil.
func (c *Console) refuse(r *http.Request) error {
	if why, _ := c.names.Refuse(r); why != "" {
		return &trouble{http.StatusForbidden, "This address is not served",
			"The reason: " + why + ". Open the console under localhost, an address of this machine, or a name of the setting hosts."}
	}
	if r.Header.Get("Authorization") != "" {
		return &trouble{http.StatusBadRequest, "The console takes no bearer token",
			"Programs ask the admin API beside it; people sign in."}
	}
	for name := range r.URL.Query() {
		if strings.Contains(strings.ToLower(name), "token") {
			return &trouble{http.StatusBadRequest, "A token does not belong into an address",
				"Addresses are kept in histories and logs. Take it as known to others, replace it, and sign in with the form."}
		}
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !sameOrigin(r) {
		return &trouble{http.StatusForbidden, "This request does not come from the console",
			"Nothing was changed. Another page has sent it, or a program; programs ask the admin API."}
	}
	return nil
}

// sameOrigin reports whether a page of this origin sent a request. Every browser says so in one of two
// headers that no page can choose.
func sameOrigin(r *http.Request) bool {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	if site != "" && site != "same-origin" {
		return false
	}
	if origin != "" {
		from, err := url.Parse(origin)
		return err == nil && from.Host != "" && from.Host == r.Host
	}
	return site != ""
}

// readWhole reads a form whose answer takes longer than formTime. Otherwise the read deadline would end the
// connection.
func readWhole(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return unreadable(err)
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the recorder of a test has none
	return nil
}

// handler answers a request, or returns a *trouble or an internal error.
type handler func(http.ResponseWriter, *http.Request, viewer) error

// open serves everyone.
func (c *Console) open(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := c.viewer(r)
		if err := h(w, r, v); err != nil {
			c.fail(w, r, v, err)
		}
	})
}

// requireRole serves viewers with a role. Others are sent to the sign-in, which leads back.
func (c *Console) requireRole(needs web.Role, h handler) http.Handler {
	return c.open(func(w http.ResponseWriter, r *http.Request, v viewer) error {
		switch {
		case v.Role >= needs:
			return h(w, r, v)
		case v.Role == web.NoRole && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"),
			"text/html"):
			http.Redirect(w, r, Root+"sign-in?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
			return nil
		case v.Role == web.NoRole:
			return &trouble{http.StatusUnauthorized, "You are not signed in",
				"The session has ended, or there was none. Open the console and sign in."}
		case c.API.Token == "":
			return &trouble{http.StatusForbidden, "Nothing can be changed on these pages",
				"This listener asks for no token, so nobody knows who you are. Programs can change the rules all the same. Set admin_token where the server starts."}
		}
		return &trouble{http.StatusForbidden, "This takes the right of " + article(needs),
			"You have signed in as " + article(v.Role) + ", who may not do that. Nothing was changed."}
	})
}

func article(r web.Role) string {
	if r == web.Approver || r == web.Admin {
		return "an " + r.String()
	}
	return "a " + r.String()
}

// troubleView shows an error and where to go.
type troubleView struct {
	Title, Text string
	Way         pair
}

// fail shows an error.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, v viewer, err error) {
	var failure *trouble
	var leads *detour
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &failure):
	case errors.As(err, &long):
		failure = &trouble{http.StatusRequestEntityTooLarge, "That was too long",
			fmt.Sprintf("This form has at most %d KiB. Nothing was changed.", long.Limit>>10)}
	default:
		c.API.Log.Error("a page of the console failed", "event", "console_failed", "path", r.URL.Path,
			"detail", err.Error())
		failure = &trouble{http.StatusInternalServerError, "This page could not be shown",
			"The fault is ours, and the log says more."}
	}
	if failure.status != http.StatusInternalServerError {
		c.API.Log.Debug("a request to the console was refused", "event", "console_refused",
			"method", r.Method, "path", r.URL.Path, "status", failure.status, "detail", failure.title)
	}
	way := pair{"To the console", Root}
	if errors.As(err, &leads) {
		way = leads.way
	}
	c.render(w, r, v, failure.status, "trouble.html",
		frame{Title: failure.title, Data: troubleView{failure.title, failure.text, way}})
}
