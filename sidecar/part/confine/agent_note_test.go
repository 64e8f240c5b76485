package confine

import (
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/service"
)

// Only a note of this machine says that an agent is here, and only to a server that serves
// this machine alone. The note counts for its own agent.
func TestNotes(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	unknown := func(local bool, want string) {
		t.Helper()
		if _, why := Agents(local, []string{"pi", "openclaw"}); want == "" && why != "" ||
			!strings.Contains(why, want) {
			t.Errorf("%q, want %q", why, want)
		}
	}
	unknown(true, "it is not known where the agent is")
	ruletest.Must(t, writeNote("openclaw", "http://127.0.0.1:8001/v1"))
	unknown(true, "")
	unknown(false, "this server listens for others")
	ruletest.Must(t, ForgetAgent("openclaw",
		func(url string) bool { return url != "http://127.0.0.1:8001/v1" }))
	unknown(true, "")
	ruletest.Must(t, ForgetAgent("openclaw",
		func(url string) bool { return url == "http://127.0.0.1:8001/v1" }))
	unknown(true, "it is not known where the agent is")
	ruletest.Must(t, ForgetAgent("openclaw", func(string) bool { return true }))
	ruletest.Must(t, writeNote("pi", "http://127.0.0.1:8001/v1"))
	if here, why := Agents(true, []string{"openclaw", "pi", "codex"}); !slices.Equal(here, []string{"pi"}) ||
		why != "" {
		t.Errorf("%v are here, %s", here, why)
	}
	ruletest.Must(t, ForgetAgent("pi", func(string) bool { return true }))
	file, err := noteFile("openclaw")
	ruletest.Must(t, err)
	for _, text := range []string{`{"host":"elsewhere"}`, `{`, ``, `{}`} {
		ruletest.Must(t, os.WriteFile(file, []byte(text), 0o600))
		unknown(true, "it is not known where the agent is")
	}
	ruletest.Must(t, os.Remove(file))
	ruletest.Must(t, os.Mkdir(file, 0o700))
	if said := NoteAgent("openclaw", "http://127.0.0.1:8001/v1"); strings.Contains(said,
		"From its next start on") {
		t.Errorf("it was noted: %s", said)
	}
}

func TestIsLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:8001/v1": true, "http://localhost:8001": true, "http://[::1]:8001/v1": true,
		"http://127.9.9.9/":      true,
		"http://gpu.lan:8001/v1": false, "http://10.1.2.3:8001/v1": false,
		"http://localhost.example.com/": false, "http://host.docker.internal:8001/v1": false,
		"127.0.0.1:8001": false, "": false, "http://[::": false,
	} {
		if got := isLoopback(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// A state folder in which confined commands could write stops a start that must confine. By default the start
// goes on, says that nothing is confined, and nothing is.
func TestStateWhereCommandsWrite(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	ruletest.Must(t, writeNote("openclaw", "http://127.0.0.1:8001/v1"))
	base := t.TempDir()
	ruletest.Must(t, os.MkdirAll(base+"/shop", 0o755))
	ruletest.Must(t, os.Symlink(base+"/shop", base+"/link"))
	if _, err := newIssuer(core(base+"/state", nil), &Settings{}, nil); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		state, writable string
		fine            bool
	}{
		{base + "/state", base + "/shop", true}, {base + "/works", base + "/shop", true},
		{base + "/shop/state", base + "/shop", false}, {base + "/link/state", base + "/shop", false}, {base + "/shop/state", base + "/link", false},
		{base + "/shop", base + "/shop", false}, {base, base + "/shop", false}, {base + "/state", "/", false},
	} {
		for _, confine := range []string{"", "auto", Here} {
			said := &ruletest.Journal{}
			d, err := openIssuers(core(c.state, said), &Settings{Confine: confine}, []string{"openclaw"},
				[]string{"", c.writable})
			switch {
			case c.fine && (err != nil || d.gateway == nil ||
				!strings.Contains(said.String(), "event=confine_ready")):
				t.Errorf("%+v, %s: %v %s", c, confine, err, said)
			case !c.fine && confine == Here &&
				(err == nil || !strings.Contains(err.Error(), c.state) ||
					!strings.Contains(err.Error(), "set --state to a folder elsewhere")):
				t.Errorf("%+v, %s: %v", c, confine, err)
			case !c.fine && confine != Here && (err != nil || d.any() ||
				!strings.Contains(said.String(), "event=confine_off")):
				t.Errorf("%+v, %s: %v %s", c, confine, err, said)
			}
		}
	}
}

// core is a server with a state folder that this machine alone reaches.
func core(state string, log *ruletest.Journal) *service.Core {
	return &service.Core{Local: true, Config: service.Config{Settings: config.Settings{State: state},
		Log: slog.New(slog.NewTextHandler(log, nil))}}
}
