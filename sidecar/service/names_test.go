package service

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What systemd says of its sockets, and what is made of it.
func TestSocketNames(t *testing.T) {
	for _, row := range []struct{ count, list, want, why string }{
		{"1", "http", "http", ""}, {"1", "", "http", ""}, {"1", "gpt-oss-executor.socket", "http", ""}, {"1", "admin", "admin", ""},
		{"2", "http:admin", "http admin", ""}, {"2", "admin:http", "admin http", ""}, {"0", "", "", ""},
		{"2", "http:http", "", "once each"}, {"2", "http", "", "1 names for 2 sockets"}, {"2", "http:web", "", `"web" is not one of`},
		{"3", "http:admin:x", "", "one socket or two"}, {"x", "http", "", "one socket or two"}, {"-1", "", "", "one socket or two"},
	} {
		got, err := socketNames(row.count, row.list)
		if strings.Join(got, " ") != row.want || (err == nil) != (row.why == "") || err != nil &&
			(!strings.Contains(err.Error(), row.why) ||
				!strings.Contains(err.Error(), "FileDescriptorName")) {
			t.Errorf("%s %q: %q, %v", row.count, row.list, got, err)
		}
	}
}

// Variables that were meant for another process are taken away, and give nothing.
func TestForAnotherProcess(t *testing.T) {
	t.Setenv(listenFDs, "1")
	environ := []string{"A=1", listenPID + "=" + strconv.Itoa(os.Getpid()+1), listenFDs + "=1",
		listenNames + "=http", "B=2"}
	g, rest, err := Receive(environ)
	if err != nil || g.FromPrevious() || g.File(HTTP) != nil || !slices.Equal(rest, []string{"A=1", "B=2"}) {
		t.Errorf("%+v %q %v", g, rest, err)
	}
	if _, there := os.LookupEnv(listenFDs); there {
		t.Error("a command would take it for its own")
	}
	select {
	case <-g.Gone():
	default:
		t.Error("a process before is waited for that never was")
	}
	if l, err := g.Listener(HTTP); l != nil || err != nil || g.Ready() != nil {
		t.Errorf("%v %v", l, err)
	}
}

// No text is taken for a name that is none, or for two of the same.
func FuzzSocketNames(f *testing.F) {
	f.Add("2", "http:admin")
	f.Add("1", "x")
	f.Fuzz(func(t *testing.T, count, list string) {
		names, err := socketNames(count, list)
		if err != nil && names != nil {
			t.Errorf("both %q and %v", names, err)
		}
		for i, name := range names {
			if name != HTTP && name != Admin || slices.Contains(names[:i], name) {
				t.Errorf("%q", names)
			}
		}
	})
}
