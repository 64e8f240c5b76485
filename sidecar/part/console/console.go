// Package console serves pages for a browser on the admin listener: turns as they happen and how each was
// read, decisions, runs, health, and calls that wait for a person. It keeps the last requests in memory,
// bounded in count and bytes. It asks no model by itself, fetches nothing from elsewhere, and changes
// nothing that the admin API cannot.
package console

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Root is the path of the console.
const Root = "/console/"

//go:embed pages static
var files embed.FS

// Config configures a console. All but Turns, Decisions, Runs, Counter and Every must be set.
type Config struct {
	API   *admin.API   // of the same listener; every change goes through it
	Next  http.Handler // gets what is not the console's
	Turns *Store       // nil: turns are not kept
	// nil: there are none
	Experiments *experiment.Admin
	Resumer     *run.ResumeAdmin
	Upstreams   func(context.Context) []upstream.FleetState
	Decisions   string       // folder of the decision log; empty: none
	Runs        *run.Journal // of executor mode; nil: none
	Version     string       // of the program
	Counter     *Counter     // nil: outcomes are not counted
	Now         func() time.Time
	Every       time.Duration // interval of events; 0: twice a second
}

// Console is the handler of the admin listener. It is safe for concurrent use.
type Console struct {
	Config
	started  time.Time
	names    web.Names
	pages    []page
	shown    map[string]*template.Template // by file name of the page
	static   map[string]asset
	sessions *sessions
	watching chan struct{}    // a semaphore of pages that listen for events
	working  chan struct{}    // a semaphore of pages that read the whole decision log
	forms    map[string]int64 // maximal size by path, where it is not maxForm
	mux      *http.ServeMux
}

// maxWatching is how many pages may listen for events at once.
const maxWatching = 32

// New returns a console, with its templates parsed.
func New(c Config) (*Console, error) {
	if c.Every == 0 {
		c.Every = 500 * time.Millisecond
	}
	k := &Console{Config: c, started: c.Now(), pages: pages(), sessions: newSessions(c.Now),
		watching: make(chan struct{}, maxWatching), working: make(chan struct{}, 1),
		forms: map[string]int64{},
		// a cookie is no bearer token: any name would not do
		names: web.Names{Local: c.API.Local, Hosts: c.API.Hosts}}
	var err error
	if k.shown, err = templates(k.pages); err != nil {
		return nil, fmt.Errorf("read the pages of the console: %w", err)
	}
	if k.static, err = assets(); err != nil {
		return nil, fmt.Errorf("read the files of the console: %w", err)
	}
	k.mux = k.routes()
	return k, nil
}

// routes returns the routes of the console, among them those of each row in pages.
func (c *Console) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, p := range c.pages {
		mux.Handle("GET "+p.path, c.requireRole(p.needs, func(w http.ResponseWriter, r *http.Request,
			v viewer) error {
			return c.show(w, r, v, p)
		}))
		for path, change := range p.changes {
			c.forms[path] = change.most
			mux.Handle("POST "+path, c.requireRole(change.needs, func(w http.ResponseWriter, r *http.Request,
				v viewer) error {
				if err := readWhole(w, r); err != nil {
					return err
				}
				return change.do(c, w, r, v)
			}))
		}
	}
	mux.Handle("GET "+Root+"events", c.requireRole(web.Reader, c.events))
	mux.Handle("GET "+Root+"sign-in", c.open(c.signInPage))
	mux.Handle("POST "+Root+"sign-in", c.open(c.signIn))
	mux.Handle("POST "+Root+"sign-out", c.open(c.signOut))
	mux.HandleFunc("GET "+Root+"static/{name}", c.file)
	mux.Handle(Root, c.open(func(_ http.ResponseWriter, r *http.Request, _ viewer) error {
		return &trouble{http.StatusNotFound, "There is no such page",
			"The address " + approvals.Visible(r.URL.Path) + " leads nowhere here."}
	}))
	return mux
}

// ServeHTTP passes requests outside of the console to the API.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead), path+"/" == Root:
		c.guard(w, r, http.RedirectHandler(Root, http.StatusSeeOther))
	case len(path) >= len(Root) && path[:len(Root)] == Root:
		c.guard(w, r, c.mux)
	default:
		c.Next.ServeHTTP(w, r)
	}
}

// Bounds limits what is kept, all of it in memory.
type Bounds struct {
	Turns  int           `rule:"turns" min:"0" max:"100000" doc:"How many requests are kept; older ones make room. 0: none, and Live is empty." eg:"500"`
	Memory rulefile.Size `rule:"memory" doc:"How much they may take together." eg:"32MiB"`
	Words  rulefile.Size `rule:"words" doc:"How much is kept of what the model wrote within one request, with secrets masked where it is shown. 0: nothing, and no reason, since that may quote it." eg:"2MiB"`
}

// Section returns the section of the rule files with the bounds.
func Section() ruleset.Section {
	return ruleset.Section{Name: "console",
		About: "What the console keeps of the last requests, in memory alone.", Holds: &Bounds{Turns: 500, Memory: 32 << 20, Words: 2 << 20}}
}

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
				"This listener asks for no token, so the page does not know who you are. Programs can change the rules all the same. Set admin_token where the server starts."}
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
