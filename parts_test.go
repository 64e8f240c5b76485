package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// The program, the tests and the table of what parts bring have the same parts, in the same order.
func TestPartsAreListed(t *testing.T) {
	var mine, kit []string
	for _, p := range parts() {
		mine = append(mine, p.Name())
	}
	for _, p := range stage.Parts() {
		kit = append(kit, p.Name())
	}
	for _, p := range parts() {
		listed := append(built.Brings(p.Name(), built.RuleFile), built.Brings(p.Name(), built.Limit)...)
		var reads []string
		for _, s := range (cli.Env{Parts: []cli.Part{p}}).Loader().Sections {
			reads = append(reads, s.Name)
		}
		if strings.Join(reads, " ") != strings.Join(listed, " ") {
			t.Errorf("%s reads %v of the rule files, and internal/built lists %v", p.Name(), reads, listed)
		}
	}
	if all := strings.Join(built.Parts(), " "); strings.Join(mine, " ") != all ||
		strings.Join(kit, " ") != all {
		t.Errorf("main.go lists %v, the kit %v, and internal/built %s", mine, kit, all)
	}
}

// Without a part, which is two lines of main.go, the program builds, checks its rules and serves; so it does
// without all of them. What the part would have brought is unknown, with a sentence that says why.
func TestWithoutEachPart(t *testing.T) {
	missing := [][]string{built.Parts()}
	if !testing.Short() {
		for _, part := range built.Parts() {
			missing = append(missing, []string{part})
		}
	}
	source, err := os.ReadFile("main.go")
	ruletest.Must(t, err)
	model := httptest.NewServer(script.New(script.Scenario{Steps: []script.Reply{script.Text("Hello.")},
		Loop: true}))
	t.Cleanup(model.Close)
	for _, parts := range missing {
		t.Run(strings.Join(parts, " "), func(t *testing.T) {
			dir := t.TempDir()
			program := without(t, dir, string(source), parts)
			run := func(args ...string) (string, error) {
				c := exec.Command(program, args...)
				c.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
				said, err := c.CombinedOutput()
				return string(said), err
			}
			said, err := run("check", "builtin")
			if err != nil {
				t.Fatalf("check: %v\n%s", err, said)
			}
			serves(t, program, dir, model.URL)
			for _, part := range parts {
				for _, kind := range []built.Kind{built.RuleFile, built.Limit} {
					for _, name := range built.Brings(part, kind) {
						if want := built.Without(kind, name); !strings.Contains(said, want) {
							t.Errorf("check says nothing of %s, not even %q:\n%s", name, want, said)
						}
					}
				}
				for _, command := range built.Brings(part, built.Command) {
					refuses(t, run, "the command `"+command+"` belongs to the part "+part, command)
				}
				for _, key := range built.Brings(part, built.Setting) {
					file := filepath.Join(dir, "config.yaml")
					ruletest.Must(t, os.WriteFile(file, []byte(key+": x\n"), 0o600))
					refuses(t, run, "the setting `"+key+"` belongs to the part "+part, "serve", "--config", file)
				}
			}
		})
	}
}

// without builds the program without these parts.
func without(t *testing.T, dir, source string, parts []string) string {
	t.Helper()
	for _, part := range parts {
		before := strings.Count(source, "\n")
		source = regexp.MustCompile(`(?m)^.*/sidecar/part/`+part+`"\n|^\s*`+part+`\.Part\{\},\n`).
			ReplaceAllString(source, "")
		if n := before - strings.Count(source, "\n"); n != 2 {
			t.Fatalf("%d lines of main.go are about %s", n, part)
		}
	}
	here, err := filepath.Abs("main.go")
	ruletest.Must(t, err)
	file, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	ruletest.Must(t, os.WriteFile(file, []byte(source), 0o600))
	doc, err := json.Marshal(map[string]any{"Replace": map[string]string{here: file}})
	ruletest.Must(t, err)
	ruletest.Must(t, os.WriteFile(overlay, doc, 0o600))
	program := filepath.Join(dir, "gpt-oss-executor")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", overlay, "-o", program, ".")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, said)
	}
	return program
}

// refuses expects an error that says whose something is.
func refuses(t *testing.T, run func(...string) (string, error), want string, args ...string) {
	t.Helper()
	want += ", which this program was built without"
	if said, err := run(args...); err == nil || !strings.Contains(said, want) {
		t.Errorf("%q: %v, and no %q in\n%s", args, err, want, said)
	}
}

// serves lets a program serve one request.
func serves(t *testing.T, program, dir, model string) {
	t.Helper()
	c := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--upstream", model+"/v1",
		"--state", filepath.Join(dir, "state"))
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
	log := &ruletest.Journal{}
	c.Stdout, c.Stderr = log, log
	ruletest.Must(t, c.Start())
	defer func() {
		_ = c.Process.Signal(os.Interrupt)
		if err := c.Wait(); err != nil {
			t.Errorf("serve: %v\n%s", err, log)
		}
	}()
	address := regexp.MustCompile(`event=http_server_start address=(\S+)`)
	var at []string
	ruletest.Soon(t, "the server listens", func() bool {
		at = address.FindStringSubmatch(log.String())
		return at != nil
	})
	client := &http.Client{Timeout: 20 * time.Second}
	res, err := client.Post(at[1]+"/chat/completions", "application/json",
		strings.NewReader(`{"model":"gpt-oss","messages":[{"role":"user","content":"hi"}]}`))
	ruletest.Must(t, err)
	defer res.Body.Close()
	if doc, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(doc), "Hello.") {
		t.Errorf("%v %s", err, doc)
	}
}
