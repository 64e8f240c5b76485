package console_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
)

// told are the events that a page is told, until the test ends.
func (v *visitor) told(query string) <-chan gjson.Result {
	v.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.s.Console+"/console/events?"+query, nil)
	ruletest.Must(v.t, err)
	req.Header.Set("Cookie", v.cookie)
	res, err := (&http.Client{Transport: v.s.HTTP.Transport}).Do(req)
	ruletest.Must(v.t, err)
	if kind := res.Header.Get("Content-Type"); kind != "text/event-stream" {
		v.t.Fatalf("%s %s", res.Status, kind)
	}
	out, ended := make(chan gjson.Result, 100), make(chan struct{})
	go func() {
		defer close(ended)
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		name := ""
		for lines.Scan() {
			if n, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = n
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				out <- gjson.Parse(`{"event":"` + name + `","data":` + data + `}`)
			}
		}
	}()
	v.t.Cleanup(func() { stop(); <-ended })
	return out
}

// next is the next event of a name.
func next(t testing.TB, from <-chan gjson.Result, name string) gjson.Result {
	t.Helper()
	for {
		select {
		case e := <-from:
			if e.Get("event").Str == name {
				return e.Get("data")
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("no %s came", name)
		}
	}
}

// A page is told of turns as they come, of those that fit its filter alone, and of what waits.
func TestTold(t *testing.T) {
	v := open(t, stage.Tokens, map[string]script.Reply{
		"mend": script.LeakedTurn("read", `{'path': "a.md"}`), "note": script.Native("write",
			`{"path":"/srv/other/a","content":"x"}`), "text": script.Text("Hello."),
	})
	v.signIn("", stage.Reader)
	all, mended, bare := v.told("turns=1"), v.told("turns=1&outcome=repaired&q=june+READ"), v.told("")
	v.s.Ask("may", "text", true)
	v.s.Ask("june", "mend", true)
	v.s.Ask("june", "text", true)
	seen := map[string]string{}
	for len(seen) < 3 || strings.Contains(fmt.Sprint(seen), "running") {
		next(t, all, "turns").Get("rows").ForEach(func(_, row gjson.Result) bool {
			seen[row.Get("id").Str] = row.Get("outcome").Str
			return true
		})
	}
	rows := next(t, mended, "turns").Get("rows").Array()
	if len(rows) != 1 || rows[0].Get("session").Str != "june" || rows[0].Get("calls").Str != "read" ||
		rows[0].Get("strategies").Str != "harmony" || rows[0].Get("repairs").Str == "" {
		t.Errorf("of those that fit: %v", rows)
	}
	if e := next(t, bare, "approvals"); e.Get("waiting").Int() != 0 {
		t.Errorf("at first %s", e)
	}
	v.s.Ask("june", "note", false)
	if e := next(t, bare, "approvals"); e.Get("waiting").Int() != 1 {
		t.Errorf("then %s", e)
	}
	for len(bare) > 0 {
		if e := <-bare; e.Get("event").Str == "turns" {
			t.Error("a page that does not ask for turns is told of them")
		}
	}
}

// Who signs out is told nothing more, on no page that is open.
func TestSignedOutStream(t *testing.T) {
	v := open(t, stage.Tokens, nil)
	v.signIn("", stage.Reader)
	req, err := http.NewRequest(http.MethodGet, v.s.Console+"/console/events?turns=1", nil)
	ruletest.Must(t, err)
	req.Header.Set("Cookie", v.cookie)
	res, err := v.s.HTTP.Do(req)
	ruletest.Must(t, err)
	defer res.Body.Close()
	v.do(http.MethodPost, "/console/sign-out", "")
	if _, err := io.ReadAll(res.Body); err != nil {
		t.Errorf("the stream goes on: %v", err)
	}
}

// However many turns come at once, a page is told of so many as it shows, and how many there were.
func TestManyTurns(t *testing.T) {
	v := open(t, nil, nil)
	for i := range 150 {
		v.s.Ask(fmt.Sprint(i), "hello", false)
	}
	e := next(t, v.told("turns=1"), "turns")
	if rows := e.Get("rows").Array(); len(rows) != 60 || e.Get("more").Int() != 90 ||
		rows[0].Get("session").Str != "149" {
		t.Errorf("%d rows and %s more", len(rows), e.Get("more"))
	}
	// and the one in the template
	if page := v.get("/console/").text; strings.Count(page, "data-item") != 61 {
		t.Errorf("the list has %d links", strings.Count(page, "data-item"))
	}
}

// Only so many pages are told what is new, and one that is closed makes room.
func TestManyPages(t *testing.T) {
	v := open(t, nil, nil)
	var open []net.Conn
	dial := func() (status string) {
		c, err := net.Dial("tcp", strings.TrimPrefix(v.s.Console, "http://"))
		ruletest.Must(t, err)
		t.Cleanup(func() { c.Close() })
		open = append(open, c)
		_, err = fmt.Fprintf(c, "GET /console/events HTTP/1.1\r\nHost: %s\r\n\r\n",
			strings.TrimPrefix(v.s.Console, "http://"))
		ruletest.Must(t, err)
		status, err = bufio.NewReader(c).ReadString('\n')
		ruletest.Must(t, err)
		return status
	}
	for i := range 32 {
		if s := dial(); !strings.Contains(s, "200") {
			t.Fatalf("page %d: %s", i, s)
		}
	}
	if s := dial(); !strings.Contains(s, "503") {
		t.Errorf("one too many: %s", s)
	}
	for _, c := range open {
		c.Close()
	}
	ruletest.Soon(t, "there is room", func() bool { return strings.Contains(dial(), "200") })
}

// small is a listener whose connections hold little that nobody reads.
type small struct{ net.Listener }

func (l small) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		err = tcp.SetWriteBuffer(4 << 10)
	}
	return c, err
}

// A page that does not read is dropped, and keeps no turn waiting.
func TestDropped(t *testing.T) {
	log := &ruletest.Journal{}
	w := console.NewStore(console.StoreConfig{Words: true, Now: time.Now})
	api := &admin.API{Local: true,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	c, err := console.New(console.Config{API: api, Next: http.NotFoundHandler(), Turns: w, Now: time.Now,
		Every: time.Millisecond})
	ruletest.Must(t, err)
	srv := httptest.NewUnstartedServer(c)
	srv.Listener = small{srv.Listener}
	srv.Start()
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	ruletest.Must(t, err)
	defer conn.Close()
	ruletest.Must(t, conn.(*net.TCPConn).SetReadBuffer(1<<10))
	_, err = fmt.Fprintf(conn, "GET /console/events?turns=1 HTTP/1.1\r\nHost: %s\r\n\r\n",
		srv.Listener.Addr())
	ruletest.Must(t, err)
	n := 0
	ruletest.Soon(t, "it is dropped", func() bool {
		n++
		w.Begin(console.Asking{ID: fmt.Sprint(n), Session: strings.Repeat("s", 200)},
			*console.Section().Holds.(*console.Bounds)).Ended(&turn.Outcome{Status: 200})
		return log.Count("console_dropped") > 0
	})
	if n < 10 { // each would wait as long as the write that fails
		t.Errorf("it is dropped after %d turns, which wait", n)
	}
}
