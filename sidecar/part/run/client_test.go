package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
)

// publicOnly is the judge of most tests.
func publicOnly(u urls.Use) error {
	if u.Class != urls.Public {
		return errors.New("only the public internet")
	}
	return nil
}

const (
	here  = "93.184.215.14"
	there = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
)

var zone = map[string][][]string{
	"go.dev": {{here}}, "other.dev": {{there}}, "inside.dev": {{"10.0.0.5"}}, "mixed.dev": {{here, "127.0.0.1"}},
	"rebind.dev": {{here}, {"127.0.0.1"}}, "v6.dev": {{"::1"}}, "empty.dev": {{}},
}

// world is a client, with the internet that it sees.
type world struct {
	*Client
	names *servers.Names
	net   *servers.Servers
}

func newWorld(t testing.TB, h http.HandlerFunc) *world {
	names, resolver := servers.ServeNames(t, zone)
	w := servers.ServeHTTP(t, h)
	return &world{&Client{Judge: publicOnly, Resolver: resolver, TLS: w.TLS(), Connect: w.Connect}, names, w}
}

func (w *world) get(url string) (*Answer, error) {
	return w.Do(context.Background(), Request{URL: url})
}

// echo answers with what it was asked. A path /to?URL redirects there, /to307?URL with
// another status.
func echo(w http.ResponseWriter, r *http.Request) {
	if code, found := strings.CutPrefix(r.URL.Path, "/to"); found {
		status, err := strconv.Atoi(code)
		if err != nil {
			status = http.StatusFound
		}
		w.Header().Set("Location", r.URL.RawQuery)
		w.WriteHeader(status)
		return
	}
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s%s key=%q cookie=%q x=%q lang=%q %s", r.Method, r.Host, r.URL.Path,
		r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("X-Api-Key"),
		r.Header.Get("Accept-Language"), body)
}

func TestFetchFetch(t *testing.T) {
	w := newWorld(t, echo)
	for _, row := range []struct{ url, want string }{ // want: begin of the body, or part of the error
		{"http://go.dev/a", "GET go.dev/a"},
		{"https://go.dev/a", "GET go.dev/a"},
		{"http://other.dev/", "GET other.dev/"},
		{"http://" + here + "/", "GET " + here + "/"},
		{"http://[" + there + "]/", "GET [" + there + "]/"},
		{"http://go.dev/to?/b", "GET go.dev/b"},
		{"http://go.dev/to?https://other.dev/b", "GET other.dev/b"},
		{"http://inside.dev/", "http://inside.dev:80 is not fetched (private, 10.0.0.5): only the public internet"},
		{"http://mixed.dev/", "(loopback, 127.0.0.1)"},
		{"http://v6.dev/", "(loopback, ::1)"},
		{"http://empty.dev/", "(unknown)"},
		{"http://nobody.dev/", "(unknown)"},
		{"http://127.0.0.1/", "(loopback, address)"},
		{"http://localhost/", "(loopback)"},
		{"http://user:hidden@go.dev/", "this URL is not fetched (malformed, user)"},
		{"file:///etc/passwd", "(badscheme)"},
		{"http://go.dev/to?http://169.254.169.254/latest", "redirect 1 to http://169.254.169.254:80 is not fetched (metadata, address, other origin)"},
		{"http://go.dev/to?http://inside.dev/", "redirect 1 to http://inside.dev:80 is not fetched (private, other origin, 10.0.0.5)"},
		{"http://go.dev/to?//[::1]/", "(loopback, address, other origin)"},
		{"http://go.dev/to?http://0x7f.1/", "(malformed, legacy address)"},
		{"http://go.dev/to?file:///etc/passwd", "(badscheme, other origin)"},
		{"http://go.dev/to?/to?/to?http://127.0.0.1/", "redirect 3 to http://127.0.0.1:80"},
		{"http://go.dev/to?/to?/to?/to?/to?/to?/to?/to?/to?/to?/to?/x", "it has more than 10 redirects"},
		{"http://go.dev/%zz", "it cannot be sent as it is"},
	} {
		answer, err := w.get(row.url)
		var refused *confine.Refused
		switch {
		case err == nil && !strings.HasPrefix(string(answer.Body), row.want):
			t.Errorf("%s: %s", row.url, answer.Body)
		case err != nil && (!errors.As(err, &refused) || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: %v, want %s", row.url, err, row.want)
		}
		if err != nil && strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: the error tells the password", row.url)
		}
	}
	for _, to := range w.net.Seen() {
		if urls.ClassOf(to.Addr()) != urls.Public {
			t.Errorf("connected to %s", to)
		}
	}
}

// A name that changes its address after it was judged changes nothing.
func TestRebinding(t *testing.T) {
	w := newWorld(t, echo)
	if _, err := w.get("http://rebind.dev/"); err != nil {
		t.Error(err)
	}
	if n := w.names.Times("rebind.dev"); n != 1 {
		t.Errorf("the name was looked up %d times", n)
	}
	if seen := fmt.Sprint(w.net.Seen()); seen != "["+here+":80]" {
		t.Errorf("connected to %s", seen)
	}
	// A redirect to the same name looks it up again, and that is judged, too.
	if _, err := w.get("http://go.dev/to?http://rebind.dev/"); err == nil ||
		!strings.Contains(err.Error(), "(loopback, other origin, 127.0.0.1)") {
		t.Errorf("second lookup: %v", err)
	}
}

// Names of URLs that the judge refuses as they are written are never looked up.
func TestJudgedBeforeLookup(t *testing.T) {
	w := newWorld(t, echo)
	w.Judge = func(u urls.Use) error { return errors.New("no") }
	if _, err := w.get("http://go.dev/"); err == nil || w.names.Times("go.dev") != 0 {
		t.Errorf("%v, looked up %d times", err, w.names.Times("go.dev"))
	}
}

// The dialer itself refuses what was not judged, with the connection of the system.
func TestControl(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	port := netip.MustParseAddrPort(server.Listener.Addr().String()).Port()
	local := &Client{Judge: func(u urls.Use) error { return nil }, Resolver: net.DefaultResolver}
	if answer, err := local.Do(context.Background(), Request{URL: server.URL}); err != nil ||
		answer.Status != 200 {
		t.Errorf("a judge that lets loopback through: %v", err)
	}
	looks := 0
	local.Judge = func(u urls.Use) error { // the third look is that of the dialer
		if looks++; looks == 3 {
			return errors.New("at the last moment")
		}
		return nil
	}
	var refused *confine.Refused
	if _, err := local.Do(context.Background(), Request{URL: server.URL}); !errors.As(err, &refused) ||
		looks != 3 {
		t.Errorf("after %d looks: %v", looks, err)
	}
	local.Judge = func(u urls.Use) error { return nil }
	local.Connect = func(ctx context.Context, d *net.Dialer, network, _ string) (net.Conn, error) {
		return d.DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port)) // somewhere else
	}
	if _, err := local.Do(context.Background(), Request{URL: "http://" + here + "/"}); !errors.As(err,
		&refused) || refused.Use.Class != urls.Loopback {
		t.Errorf("another address: %v", err)
	}
}

func TestCredentials(t *testing.T) {
	w := newWorld(t, echo)
	for _, row := range []struct{ method, url, want string }{
		{"GET", "https://go.dev/to?/b", `GET go.dev/b key="Bearer k" cookie="c=1" x="k" lang="de" `},
		{"GET", "https://go.dev/to?https://other.dev/b", `GET other.dev/b key="" cookie="" x="" lang="de" `},
		{"GET", "https://go.dev/to?http://go.dev/b", `GET go.dev/b key="" cookie="" x="" lang="de" `},
		{"GET", "https://go.dev/to?https://other.dev/to?https://go.dev/b", `GET go.dev/b key="" cookie="" x="" lang="de" `},
		{"POST", "https://go.dev/b", `POST go.dev/b key="Bearer k" cookie="c=1" x="k" lang="de" body`},
		{"POST", "https://go.dev/to?/b", `GET go.dev/b key="Bearer k" cookie="c=1" x="k" lang="de" `},
		{"POST", "https://go.dev/to307?/b", `POST go.dev/b key="Bearer k" cookie="c=1" x="k" lang="de" body`},
	} {
		in := Request{Method: row.method, URL: row.url, Header: http.Header{"Authorization": {"Bearer k"},
			"Cookie": {"c=1"}, "X-Api-Key": {"k"}, "Accept-Language": {"de"}}}
		if row.method == "POST" {
			in.Body = []byte("body")
		}
		answer, err := w.Do(context.Background(), in)
		if err != nil || string(answer.Body) != row.want {
			t.Errorf("%s %s: %v\n got %s\nwant %s", row.method, row.url, err, answer.Body, row.want)
		}
		if in.Header.Get("Authorization") == "" {
			t.Fatal("the caller's headers were changed")
		}
	}
}

func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:1")
	if _, err := newWorld(t, echo).get("http://go.dev/"); err != nil {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	stop := make(chan struct{})
	w := newWorld(t, func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-stop
		}
		_, _ = out.Write(bytes.Repeat([]byte("x"), 1000))
	})
	defer close(stop)
	w.Limits = Limits{Body: 1000}
	if answer, err := w.get("http://go.dev/"); err != nil || len(answer.Body) != 1000 {
		t.Errorf("as much as may be: %v", err)
	}
	w.Limits.Body = 999
	if _, err := w.get("http://go.dev/"); err == nil ||
		!strings.Contains(err.Error(), "longer than 999 bytes") {
		t.Errorf("more than may be: %v", err)
	}
	w.Limits.Time = 50 * time.Millisecond
	if _, err := w.get("http://go.dev/slow"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("longer than may be: %v", err)
	}
}
