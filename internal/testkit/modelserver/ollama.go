package modelserver

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
)

// OllamaVersion is that of the module.
const OllamaVersion = "0.17.4"

//go:embed template.gotmpl
var ollamaTemplate string

// Ollama starts a real Ollama whose model says these texts, one for each prompt.
func Ollama(t testing.TB, texts ...string) *Server {
	t.Helper()
	return Config{}.Ollama(t, texts...)
}

// Ollama starts one with this configuration.
func (c Config) Ollama(t testing.TB, texts ...string) *Server {
	t.Helper()
	dir, err := builtOllama()
	if errors.Is(err, errFetch) {
		t.Skipf("skipped: a real Ollama: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	models := filepath.Join(dir, "models")
	if c.NoModel || c.Format != nil {
		models = filepath.Join(t.TempDir(), "models")
	}
	s := run(t, ollamaCommand(dir, models, c.window()), texts)
	s.tokens = func(text string) int { return len(token.FindAllString(text, -1)) }
	if f := c.Format; f != nil {
		if err := createModel(s.URL, *f); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// gptOSS is what Ollama's model of gpt-oss is created from.
var gptOSS = Format{Model: Model, architecture: "gptoss", Template: strings.TrimSuffix(ollamaTemplate, "\n")}

// errFetch means that the sources of a server cannot be fetched.
var errFetch = errors.New("it cannot be fetched")

// builtOllama is the folder with the program and a model.
var builtOllama = sync.OnceValues(func() (string, error) {
	from, err := sources()
	if err != nil {
		return "", err
	}
	from = filepath.Join(from, "ollama")
	var parts [][]byte
	for _, name := range []string{"go.mod", "main.go", "llama/llama.go", "ggml/ggml.go"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	parts = append(parts, tinyModel(gptOSS.architecture, ""), []byte(ollamaTemplate))
	return testkit.CacheFolder("ollama-"+OllamaVersion+"-"+key(parts...), func(dir string) error {
		if err := buildOllama(from, dir); err != nil {
			return fmt.Errorf("build Ollama: %w", err)
		}
		return addModel(dir)
	})
})

// buildOllama builds the program from its module. Packages that need C get an overlay without C.
func buildOllama(from, dir string) error {
	build, err := os.MkdirTemp("", "ollama-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(build)
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(build, name), text, 0o644); err != nil {
			return err
		}
	}
	out, err := testkit.Output(build, nil, "go", "mod", "download", "-json", "github.com/ollama/ollama")
	if err != nil {
		return fmt.Errorf("%w: %w", errFetch, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return err
	}
	// Go allows no overlay over the module cache, but over a link to it.
	link := filepath.Join(build, "ollama")
	if err := os.Symlink(module.Dir, link); err != nil {
		return err
	}
	over, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(link, "llama/noc.go"):           filepath.Join(from, "llama/llama.go"),
		filepath.Join(link, "ml/backend/ggml/noc.go"): filepath.Join(from, "ggml/ggml.go"),
	}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(build, "overlay.json"), over, 0o644); err != nil {
		return err
	}
	if _, err := testkit.Output(build, nil, "go", "mod", "edit", "-replace",
		"github.com/ollama/ollama=./ollama"); err != nil {
		return err
	}
	if _, err := testkit.Output(build, nil, "go", "list", "-overlay", "overlay.json", "-deps",
		"."); err != nil {
		return fmt.Errorf("%w: %w", errFetch, err)
	}
	_, err = testkit.Output(build, []string{"CGO_ENABLED=0"}, "go", "build", "-overlay", "overlay.json",
		"-trimpath",
		"-ldflags=-s -w -X github.com/ollama/ollama/version.Version="+OllamaVersion, "-o",
		filepath.Join(dir, "ollama"), ".")
	return err
}

// addModel adds gpt-oss to the folder models.
func addModel(dir string) error {
	home, err := os.MkdirTemp("", "ollama-home-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	p := &process{cmd: ollamaCommand(dir, filepath.Join(dir, "models"), 0), script: &script{}, home: home}
	url, err := p.start()
	defer p.end()
	if err != nil {
		return err
	}
	return createModel(url, gptOSS)
}

// createModel creates a tiny model in an Ollama that runs, as ollama create does.
func createModel(url string, f Format) error {
	model := tinyModel(cmp.Or(f.architecture, "qwen3"), "")
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(model))
	create, err := json.Marshal(map[string]any{"model": f.Model,
		"files": map[string]string{"tiny.gguf": digest}, "template": f.Template, "renderer": f.Renderer,
		"parser": f.Parser, "stream": false})
	if err != nil {
		return err
	}
	for _, step := range []struct {
		path string
		body []byte
	}{{"/api/blobs/" + digest, model}, {"/api/create", create}} {
		res, err := http.Post(url+step.path, "application/json", bytes.NewReader(step.body))
		if err != nil {
			return err
		}
		answer, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode >= http.StatusMultipleChoices {
			return fmt.Errorf("create %s in Ollama: %s %s %w", f.Model, res.Status, answer, err)
		}
	}
	return nil
}

// ollamaCommand returns a command of Ollama without the settings of this machine.
func ollamaCommand(dir, models string, window int) *exec.Cmd {
	cmd := exec.Command(filepath.Join(dir, "ollama"), "serve")
	cmd.Env = []string{"OLLAMA_MODELS=" + models, "OLLAMA_NOPRUNE=1", "OLLAMA_NO_CLOUD=1",
		fmt.Sprintf("OLLAMA_CONTEXT_LENGTH=%d", window)}
	return cmd
}
