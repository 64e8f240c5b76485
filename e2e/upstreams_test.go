package e2e

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// severalServers: a gateway does not notice that one of two model servers dies between two of its requests;
// and a model that makes the same call for ever is stopped.
func (b *bench) severalServers(t *testing.T) (play func(t *testing.T)) {
	call, answer := script.Native("exec",
		command("echo one >> lines.txt; wc -l < lines.txt")), script.Text("Done there.")
	looping := script.Native("exec", command("echo the same"))
	loop := script.Scenario{Name: "loop", User: user("loop"), Steps: []script.Reply{looping}, Loop: true}
	near := script.New(script.Scenario{Name: "die", User: user("die"), Steps: []script.Reply{call}}, loop)
	far := script.New(script.Scenario{Name: "die", User: user("die"), Steps: []script.Reply{answer}}, loop)
	first := httptest.NewServer(near)
	second := startModel(t, far)
	rules := filepath.Join(t.TempDir(), "rules")
	if out, err := exec.Command(binary, "init", "--full", rules).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	file := filepath.Join(rules, "models.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	edited := testkit.Replace(t, string(text), "\nmodels:\n",
		"\nupstreams: {far: '"+second+"'}\nmodels:\n", 1)
	edited = testkit.Replace(t, edited, "    mode: provider\n",
		"    mode: provider\n    upstreams: [main, far]\n", -1)
	if err := os.WriteFile(file, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	b.providers = append(b.providers,
		provider{id: "two", url: startSidecar(t, first.URL, "GPTOSS_EXECUTOR_RULES="+rules)})
	return func(t *testing.T) { b.oneDies(t, first, near, far) }
}

func (b *bench) oneDies(t *testing.T, first *httptest.Server, near, far *script.Server) {
	dies := func(begin time.Time) { // behind its call
		for len(near.Requests("die")) == 0 && time.Since(begin) < time.Minute {
			time.Sleep(5 * time.Millisecond) // between two looks
		}
		first.CloseClientConnections()
		first.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	gone := make(chan struct{})
	go func() { defer close(gone); dies(time.Now()) }()
	a, err := b.gateway.turn(ctx, "two", "die", "Please do: die")
	<-gone
	if err != nil || a.status != 200 || a.text != "Done there." || len(far.Requests("die")) == 0 {
		t.Errorf("%v %d %q, asked %d and %d times", err, a.status, a.text, len(near.Requests("die")),
			len(far.Requests("die")))
	}
	a, err = b.gateway.turn(ctx, "two", "loop", "Please do: loop")
	if err != nil || a.status != 200 || !strings.Contains(a.text, "made the same call of exec 6 times") ||
		len(far.Requests("loop")) != 7 {
		t.Errorf("%v %d %q, asked %d times", err, a.status, a.text, len(far.Requests("loop")))
	}
	asked := far.Requests("loop")
	if last := string(asked[len(asked)-1].Body); !strings.Contains(last,
		"You have made this call of exec 3 times") ||
		!strings.Contains(last, "You have made this call of exec 6 times") {
		t.Errorf("the model was not told: %s", last)
	}
}
