package console

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

const (
	cookieName  = "gptoss_console"
	sessionTime = 12 * time.Hour
	maxSessions = 256
	maxName     = 60 // characters of a person's name
)

// viewer is a person who views pages.
type viewer struct {
	Role   web.Role
	Name   string // as given; empty: none
	Signed bool   // there is a session
	ends   time.Time
}

// By names the viewer in a log: by the role of the token, and the name that they gave.
func (v viewer) By() string { return v.Name + " (console, token of " + article(v.Role) + ")" }

// session is a viewer at one origin.
type session struct {
	viewer
	host, origin string
}

// sessions keeps sessions in memory, by the hash of their cookies.
type sessions struct {
	now func() time.Time

	mu   sync.Mutex
	byID *recent.Map[session]
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, byID: recent.New[session](maxSessions, nil)}
}

func keyOf(cookie string) string {
	sum := sha256.Sum256([]byte(cookie))
	return string(sum[:])
}

// begin returns the cookie of a new session.
func (s *sessions) begin(of session) (cookie string) {
	cookie = rand.Text() + rand.Text()
	of.ends = s.now().Add(sessionTime)
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, _ := s.byID.Use(keyOf(cookie))
	*kept = of
	return cookie
}

// find returns the session of a request. It is valid only at the origin where it began.
func (s *sessions) find(r *http.Request) (session, bool) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return session{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.byID.Get(keyOf(cookie.Value))
	if found == nil || found.host != r.Host || !s.now().Before(found.ends) {
		return session{}, false
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != found.origin {
		return session{}, false
	}
	kept, _ := s.byID.Use(keyOf(cookie.Value)) // others are dropped first
	return *kept, true
}

// end ends the session of a request.
func (s *sessions) end(r *http.Request) {
	if cookie, err := r.Cookie(cookieName); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.byID.Drop(keyOf(cookie.Value))
	}
}

// viewer returns the viewer of a request. Without tokens everyone may view.
func (c *Console) viewer(r *http.Request) viewer {
	if c.API.Token == "" {
		return viewer{Role: web.Reader, ends: c.Now().Add(sessionTime)}
	}
	if s, ok := c.sessions.find(r); ok {
		return s.viewer
	}
	return viewer{}
}

// signInForm is the sign-in form.
type signInForm struct{ Next, Name, Error string }

func (c *Console) signInPage(w http.ResponseWriter, r *http.Request, v viewer) error {
	next := consolePath(r.URL.Query().Get("next"))
	if v.Role != web.NoRole {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	}
	c.render(w, r, v, http.StatusOK, "sign-in.html", frame{Title: "Sign in", Data: signInForm{Next: next}})
	return nil
}

// signIn exchanges a token for a session.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request, v viewer) error {
	if err := r.ParseForm(); err != nil {
		return unreadable(err)
	}
	form := signInForm{Next: consolePath(r.PostForm.Get("next")), Name: nameOf(r.PostForm.Get("name"))}
	again := func(status int, why string) error {
		form.Error = why
		c.render(w, r, v, status, "sign-in.html", frame{Title: "Sign in", Data: form})
		return nil
	}
	role := c.API.Tokens().Role(strings.TrimSpace(r.PostForm.Get("token")))
	switch {
	case role == web.NoRole && c.API.Missed(r):
		return again(http.StatusTooManyRequests,
			"This is none of the tokens of this server, as many were from your address. The right one is taken at any time.")
	case role == web.NoRole:
		c.API.Log.Warn("a person could not sign in to the console", "event", "console_sign_in_failed",
			"from", r.RemoteAddr, "name", form.Name)
		return again(http.StatusUnauthorized,
			"This is none of the tokens of this server. They are the settings admin_token, admin_approver_token and admin_reader_token.")
	case form.Name == "" && role > web.Reader:
		return again(http.StatusUnprocessableEntity,
			"Say who you are: your name stands in the log beside what you change.")
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		origin = "http://" + r.Host
	}
	c.sessions.end(r)
	cookie := c.sessions.begin(session{viewer{Role: role, Name: form.Name, Signed: true}, r.Host, origin})
	http.SetCookie(w, c.cookie(r, cookie, int(sessionTime/time.Second)))
	c.API.Log.Info("a person has signed in to the console", "event", "console_sign_in", "name", form.Name,
		"role", role.String(), "from", r.RemoteAddr)
	http.Redirect(w, r, form.Next, http.StatusSeeOther)
	return nil
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request, _ viewer) error {
	c.sessions.end(r)
	http.SetCookie(w, c.cookie(r, "", -1))
	http.Redirect(w, r, Root+"sign-in", http.StatusSeeOther)
	return nil
}

// cookie returns a cookie for the console alone. Behind a TLS proxy the header Origin tells that it must be
// secure.
func (c *Console) cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{
		Name: cookieName, Value: value, Path: Root, MaxAge: age, HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
		Secure:   r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https://"),
	}
}

// consolePath returns a path of the console: next, or the first page if next is another one.
func consolePath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, Root) ||
		strings.Contains(u.Path, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return Root
	}
	return u.RequestURI()
}

// nameOf cleans a name for pages and logs.
func nameOf(s string) string {
	s = approvals.Visible(strings.Join(strings.Fields(s), " "))
	if utf8.RuneCountInString(s) > maxName {
		s = string([]rune(s)[:maxName])
	}
	return s
}

func unreadable(err error) error {
	if strings.Contains(err.Error(), "too large") {
		return err
	}
	return &trouble{http.StatusBadRequest, "The form cannot be read",
		"It was not sent whole. Nothing was changed."}
}
