package replicas

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// replica is a store that runs until its test ends.
type replica struct {
	*Store
	log *ruletest.Journal
}

func run(t testing.TB, address string, change func(*Config)) replica {
	t.Helper()
	r := replica{log: &ruletest.Journal{}}
	c := Config{URL: "redis://" + address, Secret: "the token of the test", Replica: fmt.Sprintf("replica-%p",
		r.log), Wait: time.Second,
		Now: time.Now, Metrics: telemetry.New(), Log: slog.New(slog.NewTextHandler(r.log, nil))}
	if change != nil {
		change(&c)
	}
	var err error
	r.Store, err = Open(c)
	ruletest.Must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { r.Run(ctx, func() string { return "rules of " + r.Replica }) })
	t.Cleanup(func() {
		stop()
		ended.Wait()
		ruletest.Must(t, r.Close())
	})
	return r
}

// Settings that cannot work are told of at the start, without what is secret in them.
func TestSettings(t *testing.T) {
	for url, want := range map[string]string{
		"":                                  "no address",
		"127.0.0.1:6379":                    "no address",
		"http://127.0.0.1:6379":             "no address",
		"redis://":                          "names no host",
		"redis://sam:hunter2@127.0.0.1":     "shared_password",
		"redis://127.0.0.1?read_timeout=1h": "behind its address",
		"redis://127.0.0.1/shop":            "shared: ",
		"redis://127.0.0.1 /\x7f":           "no address",
	} {
		_, err := Open(Config{URL: url, Metrics: telemetry.New()})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, want %q", url, err, want)
		}
	}
	for want, c := range map[string]Config{
		"rediss://":   {URL: "redis://127.0.0.1", CA: "x.pem"},
		"read shared": {URL: "rediss://127.0.0.1", CA: "/nowhere/x.pem"},
		"1s at most":  {URL: "redis://127.0.0.1", Wait: time.Minute},
	} {
		if c.Metrics = telemetry.New(); true {
			if _, err := Open(c); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}

// What a value says holds at its place, for whoever knows the secret.
func TestSeal(t *testing.T) {
	s := newSeal("a")
	value := s.close("here", []byte("text"))
	if got, err := s.open("here", value); err != nil || string(got) != "text" ||
		strings.Contains(value, "text") {
		t.Errorf("%q %v", got, err)
	}
	for name, open := range map[string]func() ([]byte, error){
		"another place":   func() ([]byte, error) { return s.open("there", value) },
		"another secret":  func() ([]byte, error) { return newSeal("b").open("here", value) },
		"another version": func() ([]byte, error) { return s.open("here", "2"+value[1:]) },
		"cut":             func() ([]byte, error) { return s.open("here", value[:5]) },
		"empty":           func() ([]byte, error) { return s.open("here", "") },
	} {
		if got, err := open(); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	for i := range value {
		changed := []byte(value)
		changed[i] ^= 1
		if got, err := s.open("here", string(changed)); err == nil {
			t.Errorf("byte %d changed: %q", i, got)
		}
	}
}

// A call that has left at one replica is known at another, once for all of them.
func TestDepartures(t *testing.T) {
	server := servers.StartValkey(t)
	a, b := run(t, server.Address, nil), run(t, server.Address, nil)
	here, there := state.NewDeparted(a.Departures()), state.NewDeparted(b.Departures())
	args := []byte(`{"command":"ls"}`)
	here.Add("call1", "exec", args)
	if there.Take("call1", "exec", []byte(`{"command":"rm"}`)) || there.Take("call2", "exec", args) {
		t.Error("another call is known")
	}
	ruletest.Soon(t, "it is known there", func() bool { return there.Take("call1", "exec", args) })
	if there.Take("call1", "exec", args) || here.Take("call1", "exec", args) {
		t.Error("it is known twice")
	}
	here.Add("call3", "exec", args)
	server.Kill()
	if there.Take("call3", "exec", args) || !here.Take("call3", "exec", args) {
		t.Error("without the server each replica knows its own")
	}
}

// What a session does at one replica counts at another; without the server each counts for itself.
func TestRates(t *testing.T) {
	server := servers.StartValkey(t)
	a, b := run(t, server.Address, nil), run(t, server.Address, nil)
	here, there := state.NewRates(10, a.Rates()), state.NewRates(10, b.Rates())
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { here.Share(ctx) })
	ended.Go(func() { there.Share(ctx) })
	defer func() { stop(); ended.Wait() }()
	now := time.Now()
	here.Add("s", now, map[string]int{"calls": 2, "deletes": 3})
	there.Add("s", now, map[string]int{"calls": 5})
	count := func(r *state.Rates, session, kind string) int {
		now = now.Add(time.Second) // what is known is not fresh any more
		return r.Session(session, now).Count(kind, time.Hour)
	}
	ruletest.Soon(t, "all is counted", func() bool {
		return count(here, "s", "calls") == 7 && count(there, "s", "calls") == 7 &&
			count(there, "s", "deletes") == 3
	})
	if n := count(there, "other", "calls"); n != 0 {
		t.Errorf("another session did %d", n)
	}
	server.Kill()
	ruletest.Soon(t, "each counts for itself",
		func() bool { return count(here, "s", "calls") == 2 && count(there, "s", "calls") == 5 })
}

// Replicas know each other, and which rules each has in force.
func TestPeers(t *testing.T) {
	server := servers.StartValkey(t)
	a, b := run(t, server.Address, nil), run(t, server.Address, nil)
	ruletest.Soon(t, "both have greeted by themselves",
		func() bool { return len(a.Peers()) == 2 && len(b.Peers()) == 2 })
	a.exchange(t.Context(), "v1")
	b.exchange(t.Context(), "v2")
	a.exchange(t.Context(), "v1")
	got := map[string]string{}
	for _, p := range a.Peers() {
		got[p.ID] = p.Rules
	}
	if len(got) != 2 || got[a.Replica] != "v1" || got[b.Replica] != "v2" {
		t.Errorf("%v", got)
	}
}

// questions are all that is asked.
var questions = []func(s *Store){
	func(s *Store) { s.Texts().Keep(state.Text{Kind: state.Thought, Key: "k", Text: "t"}); s.flush() },
	func(s *Store) { s.Texts().Find(context.Background(), []string{"k", "l"}) },
	func(s *Store) { _, _, _ = s.Board().Read() },
	func(s *Store) {
		_, _ = s.Board().Swap([]approvals.Swap{{ID: "x", Entry: &approvals.Entry{ID: "x"}}}, "")
	},
	func(s *Store) { s.Departures().Take("k") },
	func(s *Store) { s.Rates().Publish("s", []byte("{}")); s.flush() },
	func(s *Store) { s.Rates().Read("s") },
	func(s *Store) { _ = s.Counts().Publish([]byte("{}")) },
	func(s *Store) { _, _ = s.Counts().Read() },
	func(s *Store) { s.exchange(context.Background(), "v") },
}

// all asks for everything once.
func all(r replica) {
	for _, ask := range questions {
		ask(r.Store)
	}
}

// A server that says anything at all breaks nothing: it is taken for away, and said to be, once.
func TestOddServers(t *testing.T) {
	for name, answer := range map[string]string{
		"an error":         "-ERR what?\r\n",
		"too many answers": "+OK\r\n+OK\r\n+OK\r\n$-1\r\n*1\r\n:1\r\n",
		"no protocol":      "HTTP/1.1 400 Bad Request\r\n\r\n",
		"a long number":    "$99999999999999999999\r\n",
		"a huge list":      "*2147483647\r\n",
		"an odd length":    "$9223372036854775000\r\n",
		"an odd list":      "*9223372036854775000\r\n",
		"a long text":      "$2000000000\r\n",
		"half an answer":   "$100\r\nabc",
		"zeros":            strings.Repeat("\x00", 4096),
		"numbers":          ":1\r\n",
		"a map":            "%1\r\n+a\r\n+b\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := odd(t, answer)
			for i, ask := range questions { // each of a store that has asked nothing yet
				r := replica{log: &ruletest.Journal{}}
				var err error
				r.Store, err = Open(Config{URL: "redis://" + address, Replica: "r",
					Wait: 20 * time.Millisecond, Patience: 20 * time.Millisecond, Now: time.Now,
					Metrics: telemetry.New(), Log: slog.New(slog.NewTextHandler(r.log, nil))})
				ruletest.Must(t, err)
				began := time.Now()
				for range 5 {
					ask(r.Store)
				}
				// these are answers
				if n := r.log.Count("shared_lost") + r.log.Count("shared_refuses"); n == 0 &&
					name != "numbers" && name != "too many answers" {
					t.Errorf("%d: nothing is said after %s: %s", i, time.Since(began), r.log)
				}
				ruletest.Must(t, r.Close())
			}
		})
	}
}

// odd is a server that answers each command with the same, but for the first of a connection.
func odd(t testing.TB, answer string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ruletest.Must(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				for in := bufio.NewReader(c); ; {
					name, err := command(in)
					switch {
					case err != nil:
						return
					case name == "hello":
						_, _ = io.WriteString(c, "-ERR unknown command\r\n")
					default:
						_, _ = io.WriteString(c, answer)
					}
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return l.Addr().String()
}

// command reads a command, and gives its name.
func command(in *bufio.Reader) (name string, err error) {
	var n, size int
	if _, err = fmt.Fscanf(in, "*%d\r\n", &n); err != nil {
		return "", err
	}
	for i := range n {
		if _, err = fmt.Fscanf(in, "$%d\r\n", &size); err != nil {
			return "", err
		}
		text := make([]byte, size+len("\r\n"))
		if _, err = io.ReadFull(in, text); err != nil {
			return "", err
		}
		if i == 0 {
			name = strings.ToLower(string(text[:size]))
		}
	}
	return name, nil
}

// A server that wants a password gets it, and says no to a wrong one.
func TestPassword(t *testing.T) {
	server := servers.StartValkey(t, "--requirepass", "sesame")
	good := run(t, server.Address, func(c *Config) { c.Password = "sesame" })
	if _, _, err := good.Board().Read(); err != nil {
		t.Error(err)
	}
	for _, password := range []string{"", "wrong"} {
		bad := run(t, server.Address, func(c *Config) { c.Password = password })
		for range 4 {
			_, _, _ = bad.Board().Read()
		}
		if bad.Up() || bad.log.Count("shared_lost") != 1 || strings.Contains(bad.log.String(), "wrong") {
			t.Errorf("%q: %s", password, bad.log)
		}
	}
}

// A server that is full still answers: what it holds is read, what is new is lost, and that is said.
func TestFull(t *testing.T) {
	server := servers.StartValkey(t, "--maxmemory", "1", "--maxmemory-policy", "noeviction")
	r := run(t, server.Address, nil)
	for range 5 {
		r.Texts().Keep(state.Text{Kind: state.Thought, Key: "k", Text: strings.Repeat("t", 1000)})
		if done, err := r.Board().Swap([]approvals.Swap{{ID: "x", Entry: &approvals.Entry{ID: "x"}}},
			""); done || err == nil {
			t.Error("it was kept")
		}
		if _, _, err := r.Board().Read(); err != nil {
			t.Error(err)
		}
	}
	if !r.Up() || r.log.Count("shared_refuses") == 0 || r.log.Count("shared_lost") != 0 {
		t.Errorf("%s", r.log)
	}
}

// A server that is held costs three requests their wait, and the others nothing.
func TestHeld(t *testing.T) {
	server := servers.StartValkey(t)
	r := run(t, server.Address, func(c *Config) { c.Wait = 100 * time.Millisecond })
	if _, _, err := r.Board().Read(); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	defer server.Go()
	ruletest.Soon(t, "the server stands still",
		func() bool { _, _, err := r.Board().Read(); return err != nil })
	for range 1000 {
		_, _, _ = r.Board().Read()
	}
	if n := r.log.Count("shared_lost"); n != 1 || r.Up() {
		t.Errorf("it was said %d times: %s", n, r.log)
	}
	server.Go()
	ruletest.Soon(t, "it is back", r.Up)
}
