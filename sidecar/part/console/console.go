// Package console serves pages for a browser on the admin listener: turns as they happen and how each was
// read, decisions, runs, health, and calls that wait for a person. It keeps the last requests in memory,
// bounded in count and bytes. It asks no model by itself, fetches nothing from elsewhere, and changes
// nothing that the admin API cannot.
package console

import (
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
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
