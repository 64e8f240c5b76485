package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

const (
	sdkArgs    = `{"command":"ls -la"}`
	sdkThought = "The list of files will show it."
	sdkAnswer  = "There are three files: a, b and c."
)

// sdkScript is a conversation with a damaged call that both clients have.
func sdkScript(name string, call script.Reply) script.Scenario {
	return script.Scenario{Name: name, Steps: []script.Reply{call, script.LeakedFinal(sdkAnswer)}}
}

// told is what the programs of testdata/js print.
type told struct {
	Text      string
	Reasoning string
	Commands  []string
	Results   []string
	Finishes  []string
	Usage     struct {
		TotalTokens int `json:"total_tokens"`
	}
}

func TestOpenAIJS(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	for _, program := range []string{"client", "responses"} {
		t.Run(program, func(t *testing.T) { playJS(t, program) })
	}
}

// playJS has the conversations that a program of testdata/js begins.
func playJS(t *testing.T, program string) {
	model := script.New(
		sdkScript("native", script.Native("exec", sdkArgs).Thinking(sdkThought)),
		sdkScript("stripped", script.StrippedHarmony("exec", sdkArgs).Thinking(sdkThought)),
		sdkScript("quotes", script.Native("Exec<|channel|>json",
			script.SingleQuoted(sdkArgs)).Thinking(sdkThought)),
	)
	sidecar := startSidecar(t, startModel(t, model))
	for _, name := range []string{"native", "stripped", "quotes"} {
		t.Run(name, func(t *testing.T) {
			got := askJS(t, sidecar, program, name)
			if got.Text != sdkAnswer || !slices.Equal(got.Commands, []string{"ls -la"}) ||
				!slices.Equal(got.Results, []string{"ran ls -la"}) ||
				!slices.Equal(got.Finishes, []string{"tool_calls", "stop"}) {
				t.Errorf("the client got %+v", got)
			}
			if !strings.HasPrefix(got.Reasoning, sdkThought) || got.Usage.TotalTokens == 0 {
				t.Errorf("reasoning %q, usage %+v", got.Reasoning, got.Usage)
			}
			if asked := model.Requests(name); len(asked) != 2 {
				t.Errorf("the model was asked %d times, want 2", len(asked))
			}
		})
	}
}

// askJS runs the official JavaScript SDK, in the Node that came with OpenClaw.
func askJS(t *testing.T, sidecar, program, message string) told {
	t.Helper()
	client, err := os.Open("../testdata/js/" + program + ".mjs")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	cmd := exec.CommandContext(t.Context(), node(t), "--input-type=module", "-", message)
	cmd.Dir, cmd.Stdin = install(t, "../testdata/js"), client
	cmd.Env = append(os.Environ(), "BASE_URL="+sidecar+"/v1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run the JavaScript client: %v\n%s", err, stderr.String())
	}
	var got told
	if err := json.Unmarshal(out, &got); err != nil || reflect.ValueOf(got).IsZero() {
		t.Fatalf("the JavaScript client said %q: %v", out, err)
	}
	return got
}

// node is the Node that OpenClaw asks for, or else the system's.
func node(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(install(t, "../testdata/openclaw"),
		"node_modules/node-*/bin/node"))
	if err == nil && len(found) > 0 {
		return found[0]
	}
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("no node: %v", err)
	}
	return path
}
