// Package console is pages for a browser on the admin listener: turns as they happen and how
// each was read, what was decided, what runs do, health, and the calls that wait for a person. It keeps
// the last requests in memory, bounded in count and bytes. It asks no
// model by itself, fetches nothing from elsewhere, and changes nothing that the admin API cannot.
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

// Root is the path below which the console is.
const Root = "/console/"

//go:embed pages static
var files embed.FS

// Config is what a console works with. All but Turns, Decisions, Runs, Counter and Every must be set.
type Config struct {
	API   *admin.API   // whose listener it is on; what a page changes, it changes
	Next  http.Handler // gets what is not the console's
	Turns *Store       // nil: no turn is kept
	// nil: there are none
	Experiments *experiment.Admin
	Resumer     *run.ResumeAdmin
	Upstreams   func(context.Context) []upstream.FleetState
	Decisions   string       // folder of the decision log; empty: there is none
	Runs        *run.Journal // of executor mode; nil: none is kept
	Version     string       // of the program
	Counter     *Counter     // nil: what turns came to is not kept
	Now         func() time.Time
	Every       time.Duration // how often open pages are told what is new; 0: twice a second
}

// Console is the handler of the admin listener. It is safe for concurrent use.
type Console struct {
	Config
	started  time.Time
	names    web.Names
	pages    []page
	shown    map[string]*template.Template // by the file of the page
	static   map[string]asset
	sessions *sessions
	watching chan struct{}    // holds one for each page that is told what is new
	working  chan struct{}    // holds one while a page reads the whole decision log
	forms    map[string]int64 // by their paths, how long they may be where that is not maxForm
	mux      *http.ServeMux
}

// maxWatching is how many pages are told what is new.
const maxWatching = 32

// New reads the templates.
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

// routes are the paths of the console. Each page has those of its row in pages.
func (c *Console) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, p := range c.pages {
		mux.Handle("GET "+p.path, c.signed(p.needs, func(w http.ResponseWriter, r *http.Request,
			v viewer) error {
			return c.show(w, r, v, p)
		}))
		for path, change := range p.changes {
			c.forms[path] = change.most
			mux.Handle("POST "+path, c.signed(change.needs, func(w http.ResponseWriter, r *http.Request,
				v viewer) error {
				return change.do(c, w, r, v)
			}))
		}
	}
	mux.Handle("GET "+Root+"events", c.signed(web.Reader, c.events))
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

// ServeHTTP gives to the API what is not the console's.
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
