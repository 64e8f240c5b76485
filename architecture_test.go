package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/jgavinray/gpt-oss-executor"

// rooms are the packages from the top down. One may import what stands in a row below its
// own, and nothing else of the house. Tests may import anything.
var rooms = [][]string{
	{"."},
	{"sidecar/cli", "sidecar/script/serve", "bench", "deploy/release", "deploy/dashboard"},
	{"sidecar/doctor"},
	{"sidecar/demo", "sidecar/manual", "sidecar/rollout", "sidecar/rulelog", "sidecar/eval", "sidecar/connect", "sidecar/console/stage"},
	{"sidecar/service"},
	{"sidecar/console"},
	{"sidecar", "sidecar/admin"},
	{"sidecar/shared"},
	{"sidecar/executor", "sidecar/toolbox", "sidecar/gateway", "sidecar/lab", "sidecar/witness", "sidecar/draft"},
	{"sidecar/fit", "sidecar/capture"},
	{"sidecar/reply", "sidecar/replay", "sidecar/probe", "sidecar/live", "sidecar/tickets", "sidecar/egress"},
	{"sidecar/turn"},
	{"sidecar/guard", "sidecar/fleet"},
	{"internal/sessions", "internal/valkey"},
	{"sidecar/upstream", "sidecar/confine", "sidecar/fetch", "sidecar/workspace", "sidecar/approvals", "sidecar/decisions", "sidecar/gitremote", "sidecar/history", "sidecar/journal"},
	{"internal/ruletest", "internal/starter", "sidecar/serverlog"},
	{"sidecar/ruleset", "sidecar/publish"},
	{"internal/shipped"},
	{"sidecar/programs", "sidecar/edits", "sidecar/experiment", "sidecar/loops", "sidecar/spans", "sidecar/witness/bounds"},
	{"sidecar/cond"},
	{"sidecar/config", "sidecar/cost", "sidecar/connection"},
	{"sidecar/rulefile", "sidecar/parse", "sidecar/prompt", "policy"},
	{"policy/plain", "sidecar/responses", "sidecar/listed"},
	{"policy/shell", "sidecar/strategy"},
	{"policy/program", "policy/paths", "sidecar/configfile", "sidecar/reading", "sidecar/openai", "sidecar/web", "sidecar/pin"},
	{"policy/urls", "sidecar/evidence", "sidecar/envelope", "sidecar/inert", "sidecar/clue", "sidecar/openclaw"},
	{"tools"},
	{"sidecar/errorlog", "sidecar/header", "sidecar/otlp", "sidecar/handover", "internal/stamp"},
	{"tools/jsonrepair", "tools/jsonschema", "tools/trim", "tools/refer", "tools/calltags", "tools/wording", "tools/notation", "tools/printed", "sidecar/jsonend", "sidecar/telemetry", "sidecar/secrets", "sidecar/state", "sidecar/script", "sidecar/trial"},
	{"internal/alphabet", "sidecar/circuit", "sidecar/health", "sidecar/whereabouts", "tools/callcode", "sidecar/wish", "sidecar/pattern", "sidecar/react", "sidecar/sentence", "internal/jsonc", "e2e/modelserver"},
	{"internal/atomicfile", "internal/scan", "internal/terminal", "internal/told", "internal/plainjson", "internal/jsontext", "internal/memory", "internal/corpus", "internal/bash", "internal/sockets", "internal/lazyregexp", "internal/internet", "internal/noise", "internal/jsonlines", "internal/anytime", "internal/recent", "internal/built", "internal/others", "internal/parent", "internal/signals", "internal/plot", "internal/crew", "internal/pack", "internal/ceiling", "sidecar/admission", "sidecar/tracectx", "internal/collector"},
}

// only is who may import what, of the world outside.
var only = map[string][]string{
	"gopkg.in/yaml.v3":                      {"sidecar/rulefile"},
	"github.com/fsnotify/fsnotify":          {"sidecar/rulefile"},
	"github.com/expr-lang/expr":             {"sidecar/cond"},
	"github.com/pelletier/go-toml/v2":       {"sidecar/connection"},
	"github.com/tailscale/hujson":           {"internal/jsonc"},
	"github.com/spf13/cobra":                {"sidecar/cli", "sidecar/manual"},
	"github.com/spf13/pflag":                {"sidecar/cli", "sidecar/manual"},
	"github.com/hashicorp/go-retryablehttp": {"sidecar/upstream"},
	"mvdan.cc/sh/v3":                        {"policy/shell", "policy/plain", "tools/wording"},
	"github.com/redis/go-redis/v9":          {"sidecar/shared"},
	"golang.org/x/net/bpf":                  {"sidecar/confine"},
	"go.opentelemetry.io/otel":              {"sidecar/spans", "sidecar/otlp"},
	"go.opentelemetry.io/otel/sdk":          {"sidecar/otlp"},
	"go.opentelemetry.io/proto":             {"sidecar/otlp", "internal/collector"},
	"google.golang.org/protobuf":            {"sidecar/otlp", "internal/collector"},
}

// never is what a room must not know: HTTP, network, files, clock, logger.
var never = map[string][]string{
	"tools":               {"net", "net/http", "os", "time", "log/slog", "context"},
	"tools/jsonschema":    {"net", "net/http", "os", "log/slog", "context"},
	"tools/jsonrepair":    {"net", "net/http", "os", "time", "log/slog", "context"},
	"tools/notation":      {"net", "net/http", "os", "time", "log/slog", "context"},
	"tools/printed":       {"net", "net/http", "os", "time", "log/slog", "context"},
	"tools/refer":         {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/header":      {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/envelope":    {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/strategy":    {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/reading":     {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/jsonend":     {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/pattern":     {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/react":       {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/clue":        {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/sentence":    {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/wish":        {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/inert":       {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/evidence":    {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/loops":       {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/circuit":     {"net", "net/http", "os", "log/slog", "context"},
	"sidecar/whereabouts": {"net", "net/http", "os", "time", "log/slog", "context"},
	"internal/alphabet":   {"net", "net/http", "os", "time", "log/slog", "context"},
	"internal/anytime":    {"net", "net/http", "os", "time", "log/slog", "context"},
	"internal/plot":       {"net", "net/http", "os", "log/slog", "context"},
	"tools/callcode":      {"net", "net/http", "os", "time", "log/slog", "context"},
	"tools/calltags":      {"net", "net/http", "os", "time", "log/slog", "context"},
	"tools/wording":       {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/prompt":      {"net", "net/http", "os", "log/slog", "context"},
	"sidecar/responses":   {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/parse":       {"net", "net/http", "os", "time", "log/slog", "context"},
	"policy":              {"net", "net/http", "os", "log/slog", "context"},
	"policy/plain":        {"net", "net/http", "os", "time", "log/slog", "context"},
	"policy/shell":        {"net", "net/http", "os", "time", "log/slog", "context"},
	"policy/program":      {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/turn":        {"net", "net/http", "os"},
	"sidecar/guard":       {"net", "net/http", "os"},
	"sidecar/replay":      {"net", "net/http", "os"},
	"sidecar/draft":       {"net", "net/http", "os", "time", "log/slog", "context"},
	"internal/jsonc":      {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/connection":  {"net", "net/http", "os", "time", "log/slog", "context"},
	"sidecar/openclaw":    {"net", "net/http", "os", "time", "log/slog", "context"},
}

// room is a package of the house, as go list tells it.
type room struct {
	ImportPath, Dir, Doc string
	Imports, GoFiles     []string
}

// name is the folder below the module; "." for its root.
func (r *room) name() string { return folder(r.ImportPath) }

func folder(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

func list(t *testing.T) (out []room) {
	t.Helper()
	doc, err := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Imports,GoFiles", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(bytes.NewReader(doc)); dec.More(); {
		var r room
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if len(r.GoFiles) > 0 {
			out = append(out, r)
		}
	}
	return out
}

func level(name string) int {
	return slices.IndexFunc(rooms, func(row []string) bool { return slices.Contains(row, name) })
}

// Imports point one way, and the outside has one door for each library.
func TestImportsPointOneWay(t *testing.T) {
	all := list(t)
	if len(all) < 20 {
		t.Fatalf("%d packages: nothing is tested", len(all))
	}
	for _, r := range all {
		from := level(r.name())
		if from < 0 {
			t.Errorf("%s has no place among the rooms", r.name())
		}
		for _, path := range r.Imports {
			if path == module || strings.HasPrefix(path, module+"/") {
				if to := level(folder(path)); to <= from {
					t.Errorf("%s imports %s, which is not below it", r.name(), folder(path))
				}
				continue
			}
			for library, doors := range only {
				if (path == library || strings.HasPrefix(path, library+"/")) && !slices.Contains(doors, r.name()) {
					t.Errorf("%s imports %s, which only %v may", r.name(), path, doors)
				}
			}
			if slices.Contains(never[r.name()], path) {
				t.Errorf("%s imports %s", r.name(), path)
			}
		}
	}
}

// make plain runs the tests that ask for testing.Short, by their names. A helper has no name that it could run.
func TestShortIsAskedByTests(t *testing.T) {
	asks := 0
	for _, r := range list(t) {
		files, err := filepath.Glob(filepath.Join(r.Dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := ""
			for line := range strings.Lines(string(text)) {
				if name, ok := strings.CutPrefix(line, "func "); ok {
					in = name
				} else if strings.Contains(line, "testing."+"Short()") {
					if asks++; !strings.HasPrefix(in, "Test") {
						t.Errorf("%s: testing.Short is asked by %s", file, in)
					}
				}
			}
		}
	}
	if asks < 10 {
		t.Errorf("testing.Short is asked %d times: nothing is tested", asks)
	}
}

// Every package says what it is for, and has a row in the picture of the house.
func TestEveryRoomIsDescribed(t *testing.T) {
	picture, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list(t) {
		room := "`" + r.name() + "/`"
		if r.name() == "." {
			room = "`main.go`"
		}
		described := slices.ContainsFunc(strings.Split(string(picture), "\n"), func(line string) bool {
			first, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
			return strings.HasPrefix(line, "| ") && strings.Contains(first, room)
		})
		if !described {
			t.Errorf("docs/architecture.md has no row for %s", room)
		}
		if r.Doc == "" {
			t.Errorf("%s has no package comment", r.name())
		}
	}
}

// The world in which calls are judged is built in one place.
func TestOneWorld(t *testing.T) {
	for _, r := range list(t) {
		for _, name := range r.GoFiles {
			text, err := os.ReadFile(filepath.Join(r.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text, []byte("ruleset.At{")) && r.name() != "sidecar/guard" {
				t.Errorf("%s/%s builds a world of its own", r.name(), name)
			}
		}
	}
}

// No package compiles regular expressions before main: every confined command starts the
// program, and needs none of them.
func TestRegularExpressionsWait(t *testing.T) {
	early := regexp.MustCompile(`(?m)^(?:var |\t)\w+\s*= regexp\.MustCompile|^\t\{.*regexp\.MustCompile`)
	for _, r := range list(t) {
		for _, name := range r.GoFiles {
			text, err := os.ReadFile(filepath.Join(r.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if early.Match(text) {
				t.Errorf("%s/%s compiles regular expressions at start; use lazyregexp", r.name(), name)
			}
		}
	}
}
