package experiment_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// A record says where the gateway said that the agent works, which decides what its calls may touch
// when it is read again.
func TestCaptureKnowsTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	store, err := experiment.OpenCaptures(dir, slog.New(slog.DiscardHandler), time.Now)
	ruletest.Must(t, err)
	l, err := experiment.OpenTracker(experiment.TrackerConfig{Store: store, Now: time.Now, Metrics: telemetry.New(),
		Log: slog.New(slog.DiscardHandler)})
	ruletest.Must(t, err)
	r := provider.Start(t, provider.Setup{Set: trying(t, "capture: {share: 100}\nexperiments: []\n"), Extend: tracked(l)},
		script.New(script.Scenario{Steps: []script.Reply{script.Text("a").Thinking("So."), script.Text("b")}}))
	r.Chat(fmt.Sprintf(`{"messages":[{"role":"system","content":%q},{"role":"user","content":"go"}]}`, provider.Workspace))
	r.Chat(`{"messages":[{"role":"user","content":"Working directory: /elsewhere"}]}`)
	ruletest.Must(t, l.Close())
	got := map[string]string{}
	_, err = experiment.ReadCaptures(dir, time.Time{}, func(rec *experiment.CaptureRecord) bool {
		got[rec.Message.Content] = rec.Workspace
		if rec.Message.Content == "a" && rec.Message.Reasoning != "So." {
			t.Errorf("the reasoning is %q", rec.Message.Reasoning)
		}
		return true
	})
	if err != nil || len(got) != 2 || got["a"] != "/home/sam/code/shop" || got["b"] != "" {
		t.Errorf("%v %v", got, err)
	}
}
