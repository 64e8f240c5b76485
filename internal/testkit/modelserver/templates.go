package modelserver

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
)

//go:embed llamacpp/templates.mjs
var llamaTurns []byte

// Turn is what a chat template makes of a message of a model that calls tools: what it is trained to write.
type Turn struct {
	Template, ID     string
	Tools            []json.RawMessage // those that were offered
	Calls            []TurnCall
	Content, Thought string
	Raw              string
}

// TurnCall is a call of the message.
type TurnCall struct {
	Name      string
	Arguments json.RawMessage
}

// Turns are those of all templates in llama.cpp's sources, by its own reader of templates. A test without npm
// is skipped.
func Turns(t testing.TB) (out []Turn) {
	t.Helper()
	dir, err := turns()
	if err != nil {
		t.Skipf("skipped: the templates of llama.cpp: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "turns.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// turns is the folder that holds them.
func turns() (string, error) {
	packages, err := llamaPackages()
	if err != nil {
		return "", err
	}
	templates, err := llamaTemplates()
	if err != nil {
		return "", err
	}
	name := "llama-turns-" + llamaSources + "-" + key([]byte(llamaNode), llamaTurns)
	return testkit.CacheFolder(name, func(dir string) error {
		program := filepath.Join(dir, "templates.mjs")
		if err := os.WriteFile(program, llamaTurns, 0o644); err != nil {
			return err
		}
		_, err := testkit.Output(packages, nil, "node", program, "tiny.gguf",
			filepath.Join(templates, "models/templates"), filepath.Join(dir, "turns.json"))
		return err
	})
}
