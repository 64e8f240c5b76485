package modelserver

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
)

// llamaNode is the version of the package of npm that holds llama.cpp's chat layer.
const llamaNode = "1.7.15"

//go:embed llamacpp/template.jinja
var llamaTemplate string

//go:embed llamacpp/chat.mjs
var llamaChat []byte

// LlamaChat starts llama.cpp's chat layer: its template, grammar engine and parser are real. It answers
// whole replies only.
func LlamaChat(t testing.TB, texts ...string) *Server {
	t.Helper()
	return Config{}.LlamaChat(t, texts...)
}

// LlamaChat starts one with this configuration, and the usual window.
func (c Config) LlamaChat(t testing.TB, texts ...string) *Server {
	t.Helper()
	dir, err := llamaPackages()
	if err != nil {
		t.Skipf("skipped: llama.cpp's chat layer: %v", err)
	}
	name, model := Model, filepath.Join(dir, "tiny.gguf")
	if f := c.Format; f != nil {
		template, err := os.ReadFile(f.template(t))
		if err != nil {
			t.Fatal(err)
		}
		name, model = f.Model, filepath.Join(t.TempDir(), "tiny.gguf")
		if err := os.WriteFile(model, tinyModel("gpt-oss", string(template)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", filepath.Join(dir, "chat.mjs"), model, name)
	cmd.Dir = dir
	return run(t, cmd, texts)
}

// template is the file of a format's template for llama.cpp. A test without it is skipped.
func (f *Format) template(t testing.TB) string {
	t.Helper()
	dir, err := llamaTemplates()
	if err != nil {
		t.Skipf("skipped: the templates of llama.cpp: %v", err)
	}
	return filepath.Join(dir, "models/templates", f.Jinja+".jinja")
}

// llamaSources is the version of the package of npm that holds llama.cpp's sources.
const llamaSources = "3.22.1"

// llamaTemplates is the folder with the templates of llama.cpp's sources, which are those that the makers of
// the models have published.
var llamaTemplates = sync.OnceValues(func() (string, error) {
	return testkit.CacheFolder("llama-templates-"+llamaSources, func(dir string) error {
		for _, command := range [][]string{
			{"npm", "pack", "--silent", "node-llama-cpp@" + llamaSources},
			{"tar", "xzf", "node-llama-cpp-" + llamaSources + ".tgz", "package/llama/gitRelease.bundle"},
			{"git", "clone", "--quiet", "--bare", "package/llama/gitRelease.bundle", "llama.git"},
			{"git", "--git-dir", "llama.git", "archive", "--output", "templates.tar", "HEAD", "models/templates"},
			{"tar", "xf", "templates.tar"},
			{"rm", "-rf", "node-llama-cpp-" + llamaSources + ".tgz", "package", "llama.git", "templates.tar"},
		} {
			if _, err := testkit.Output(dir, nil, command...); err != nil {
				return err
			}
		}
		return nil
	})
})

// llamaPackages is the folder with the packages of npm and a model.
var llamaPackages = sync.OnceValues(func() (string, error) {
	model := tinyModel("gpt-oss", llamaTemplate)
	return testkit.CacheFolder("llamacpp-"+llamaNode+"-"+key(model, llamaChat), func(dir string) error {
		for name, text := range map[string][]byte{"tiny.gguf": model, "chat.mjs": llamaChat} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
				return err
			}
		}
		machine := strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
		_, err := testkit.Output(dir, nil, "npm", "install", "--prefix", dir, "--ignore-scripts",
			"--omit=optional", "--no-audit", "--no-fund",
			"--no-update-notifier", "--no-package-lock", "--loglevel=error",
			"@fugood/llama.node@"+llamaNode, fmt.Sprintf("@fugood/node-llama-%s-%s@%s", runtime.GOOS, machine,
				llamaNode))
		return err
	})
})

// LlamaServer starts a real llama-server, if `make servers` has built it. The model's text is a script,
// within the limits of the server's grammar.
func LlamaServer(t testing.TB, texts ...string) *Server {
	t.Helper()
	return Config{}.LlamaServer(t, texts...)
}

// LlamaServer starts one with this configuration.
func (c Config) LlamaServer(t testing.TB, texts ...string) *Server {
	t.Helper()
	dir, err := builtLlamaServer()
	if err != nil {
		t.Skipf("skipped: a real llama-server: %v", err)
	}
	model := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(model, tinyModel("gpt-oss", ""), 0o644); err != nil {
		t.Fatal(err)
	}
	name, template := Model, filepath.Join(dir, "template.jinja")
	if f := c.Format; f != nil {
		name, template = f.Model, f.template(t)
	}
	cmd := exec.Command(filepath.Join(dir, "llama-server"), "--model", model, "--alias", name, "--ctx-size",
		fmt.Sprint(c.window()),
		"--parallel", "1", "--threads", "1", "--jinja", "--chat-template-file", template,
		"--temp", "0", "--no-warmup", "--no-ui", "--host", "127.0.0.1", "--port", "0")
	cmd.Env = []string{"LD_PRELOAD=" + filepath.Join(dir, "say.so")}
	return run(t, cmd, texts)
}

// builtLlamaServer returns the folder with the program, which is built only on demand, since that takes
// long.
var builtLlamaServer = sync.OnceValues(func() (string, error) {
	from, err := sources()
	if err != nil {
		return "", err
	}
	var parts [][]byte
	for _, name := range []string{"build.sh", "say.c"} {
		text, err := os.ReadFile(filepath.Join(from, "llamacpp", name))
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	name := "llama-server-0.5.0-" + key(parts...)
	if os.Getenv("BUILD_LLAMA_SERVER") != "1" {
		if dir, err := testkit.CachePath(name); err == nil && testkit.HasFolder(dir) {
			return dir, nil
		}
		return "", errors.New("make servers builds it")
	}
	return testkit.CacheFolder(name, func(dir string) error {
		_, err := testkit.Output(dir, nil, filepath.Join(from, "llamacpp/build.sh"), dir)
		return err
	})
})
