package main

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

const module = "github.com/jgavinray/gpt-oss-executor"

// layers are the packages from the bottom up, by the longest of these folders that holds them. A package
// imports what stands in its own layer or below it. Tests, and what only tests and developers run, may import
// anything.
var layers = []string{"internal", "tools", "internal/noise", "policy", "sidecar", "sidecar/cli", "sidecar/part", "cmd", "."}

// outside are the folders of what is no part of the program: test kits, and programs of developers.
var outside = []string{"internal/testkit", "bench", "deploy", "e2e", "sidecar/script/serve",
	"sidecar/part/console/browser"}

// partsFolder holds the parts. A user may do without each, so it imports none of the others, but for these.
const partsFolder = "sidecar/part/"

var exceptions = map[string]string{
	"run confine":        "the pages that tools fetch are judged where the connection is made",
	"console experiment": "pages show how experiments go",
	"console run":        "pages show runs, and resume them",
	"setup run":          "doctor asks the gateway; the demo has a run",
	"setup confine":      "an agent that is connected is noted for serve; the demo runs no command",
	"setup replicas":     "doctor asks the server that replicas share",
}

// alone are the packages with one importer that stand alone all the same: they keep HTTP, files, the
// kernel or a protocol out of what imports them, and tests need some of them without it.
var alone = []string{"sidecar/programs", "sidecar/script", "sidecar/part/setup/openclaw", "internal/noise"}

// budget is how many bytes of Go there may be outside of tests and their kits. It falls, and rises only for a
// new capability.
const budget = 4_025_400

// vagueWords is how many words of TestPlainWords comments may hold. It only falls.
const vagueWords = 5

// only is who may import what, of the world outside.
var only = map[string][]string{
	"gopkg.in/yaml.v3":                      {"sidecar/rulefile"},
	"github.com/fsnotify/fsnotify":          {"sidecar/rulefile"},
	"github.com/expr-lang/expr":             {"sidecar/cond"},
	"github.com/pelletier/go-toml/v2":       {"sidecar/connection"},
	"github.com/santhosh-tekuri/jsonschema": {"tools"},
	"github.com/KimMachineGun/automemlimit": {"sidecar/service"},
	"github.com/tailscale/hujson":           {"internal/jsonc"},
	"github.com/spf13/cobra":                {"sidecar/cli", "sidecar/part"},
	"github.com/spf13/pflag":                {"sidecar/cli", "sidecar/part"},
	"github.com/hashicorp/go-retryablehttp": {"sidecar/upstream"},
	"mvdan.cc/sh/v3":                        {"policy/shell", "policy", "tools"},
	"github.com/prometheus":                 {"sidecar/telemetry"},
	"github.com/redis/go-redis/v9":          {"sidecar/part/replicas"},
	"golang.org/x/net/bpf":                  {"sidecar/part/confine/walls"},
	"go.opentelemetry.io/otel":              {"sidecar/telemetry", "sidecar/part/trace"},
	"go.opentelemetry.io/otel/sdk":          {"sidecar/part/trace"},
	"go.opentelemetry.io/otel/exporters":    {"sidecar/part/trace"},
	"go.opentelemetry.io/proto":             {"sidecar/part/trace"},
	"google.golang.org/protobuf":            {"sidecar/part/trace"},
}

// pure are the folders whose packages must not know HTTP, network, files, clock and logger, but for the
// imports that are named.
var pure = map[string][]string{
	"tools": {"time"}, "policy": {"time"}, "policy/urls": {"net", "time"}, "sidecar/parse": nil, "sidecar/harmony": nil, "sidecar/part/setup/openclaw": nil, "sidecar/connection": nil,
	"sidecar/prompt": {"time"}, "sidecar/turn": {"time", "log/slog", "context"},
	"sidecar/guard": {"time", "log/slog", "context"}, "sidecar/replay": {"time", "log/slog", "context"},
}

var impure = []string{"net", "net/http", "os", "time", "log/slog", "context"}

// room is a package of the house, as go list tells it.
type room struct {
	ImportPath, Dir, Doc string
	Imports              []string
	GoFiles              []string
	IgnoredGoFiles       []string // of other systems
}

// name is the folder below the module; "." for its root.
func (r *room) name() string { return folder(r.ImportPath) }

func folder(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

func list(t *testing.T) []room {
	t.Helper()
	all, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// listed asks go list once for all tests.
var listed = sync.OnceValues(func() (out []room, err error) {
	doc, err := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,Imports,GoFiles,IgnoredGoFiles",
		"./...").Output()
	for dec := json.NewDecoder(bytes.NewReader(doc)); err == nil && dec.More(); {
		var r room
		if err = dec.Decode(&r); len(r.GoFiles) > 0 {
			out = append(out, r)
		}
	}
	return out, err
})

// longest is the longest of the folders that holds a package; -1: none does.
func longest(folders []string, name string) int {
	at := -1
	for i, f := range folders {
		if (name == f || strings.HasPrefix(name, f+"/")) && (at < 0 || len(f) > len(folders[at])) {
			at = i
		}
	}
	return at
}

// Imports point downwards, the program needs no test kit, and the outside has one package for each library.
func TestImportsPointOneWay(t *testing.T) {
	all := list(t)
	if len(all) < 20 {
		t.Fatalf("%d packages: nothing is tested", len(all))
	}
	folders, used := slices.Sorted(maps.Keys(pure)), map[string]bool{}
	for _, r := range all {
		if longest(outside, r.name()) >= 0 {
			continue
		}
		layer := longest(layers, r.name())
		if layer < 0 {
			t.Errorf("%s is in no layer", r.name())
		}
		for _, path := range r.Imports {
			if to := folder(path); path == module || to != path {
				if longest(outside, to) >= 0 || longest(layers, to) > layer {
					t.Errorf("%s imports %s, which is not below it", r.name(), to)
				}
				from, other := partOf(r.name()), partOf(to)
				if from != "" && other != "" && from != other {
					pair := from + " " + other
					if used[pair] = true; exceptions[pair] == "" {
						t.Errorf("%s imports %s, which is of another part", r.name(), to)
					}
				}
				continue
			}
			for library, users := range only {
				if (path == library || strings.HasPrefix(path, library+"/")) &&
					longest(users, r.name()) < 0 {
					t.Errorf("%s imports %s, which only %v may", r.name(), path, users)
				}
			}
			if at := longest(folders, r.name()); at >= 0 && slices.Contains(impure, path) &&
				!slices.Contains(pure[folders[at]], path) {
				t.Errorf("%s imports %s", r.name(), path)
			}
		}
	}
	for pair := range exceptions {
		if !used[pair] {
			t.Errorf("no package needs the exception %q", pair)
		}
	}
}

// partOf is the part that holds a package; empty: none does.
func partOf(name string) string {
	name, is := strings.CutPrefix(name, partsFolder)
	if !is {
		return ""
	}
	part, _, _ := strings.Cut(name, "/")
	return part
}

// A package that only one other package imports belongs into that one, unless it is a part.
func TestPackagesHaveReasons(t *testing.T) {
	importers := map[string]int{}
	all := list(t)
	for _, r := range all {
		for _, path := range r.Imports {
			if longest(outside, r.name()) < 0 {
				importers[folder(path)]++
			}
		}
	}
	for _, r := range all {
		name := r.name()
		isPart := strings.TrimPrefix(name, partsFolder) == partOf(name)
		if longest(outside, name) < 0 && !isPart && importers[name] == 1 != slices.Contains(alone, name) {
			t.Errorf("%s has %d importers; these stand alone: %v", name, importers[name], alone)
		}
	}
}

// The program only gets smaller, until a new capability pays for more.
func TestBudget(t *testing.T) {
	size := 0
	for _, r := range list(t) {
		if strings.HasPrefix(r.name()+"/", "internal/testkit/") {
			continue
		}
		for _, name := range append(r.GoFiles, r.IgnoredGoFiles...) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(r.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			size += len(text)
		}
	}
	if size > budget {
		t.Errorf("%d bytes of Go outside of tests and kits; the budget is %d", size, budget)
	}
	if size < budget-20_000 {
		t.Errorf("%d bytes of Go outside of tests and kits: lower the budget of %d", size, budget)
	}
}

// rowOfTable is the begin of a line that is an element of a composite literal.
var rowOfTable = regexp.MustCompile(`^\t*("[^"]*": )?\{`)

// A line has at most 110 characters, tabs being four, unless a string fills it or it is a row of a table.
func TestLinesAreShort(t *testing.T) {
	const longest, ofString = 110, 30
	for _, r := range list(t) {
		for _, name := range append(r.GoFiles, r.IgnoredGoFiles...) {
			text, err := os.ReadFile(filepath.Join(r.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			filled := map[int]bool{} // lines that a string fills
			set := token.NewFileSet()
			file := set.AddFile(name, -1, len(text))
			var s scanner.Scanner
			s.Init(file, text, nil, 0)
			for pos, tok, lit := s.Scan(); tok != token.EOF; pos, tok, lit = s.Scan() {
				for at := file.Line(pos); tok == token.STRING && len(lit) > ofString &&
					at <= file.Line(pos+token.Pos(len(lit))); at++ {
					filled[at] = true
				}
			}
			for i, line := range strings.Split(string(text), "\n") {
				row := rowOfTable.MatchString(line)
				if n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")); n > longest &&
					!filled[i+1] && !row {
					t.Errorf("%s/%s:%d: %d characters", r.name(), name, i+1, n)
				}
			}
		}
	}
}

// A comment names who does something: the caller, the operator, the model.
func TestPlainWords(t *testing.T) {
	words := regexp.MustCompile(`(?i)\b(nobody|somebody|whoever)\b`)
	comments, found := 0, map[string]int{}
	for _, r := range list(t) {
		for _, name := range slices.Concat(r.GoFiles, r.IgnoredGoFiles) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(r.Dir, name), nil,
				parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range file.Comments {
				for _, c := range group.List {
					comments++
					for _, word := range words.FindAllString(c.Text, -1) {
						found[r.name()]++
						t.Logf("%s/%s: %q in %s", r.name(), name, word, c.Text)
					}
				}
			}
		}
	}
	count := 0
	for _, n := range found {
		count += n
	}
	if comments < 1000 {
		t.Fatalf("%d comments: nothing is tested", comments)
	}
	if count > vagueWords {
		t.Errorf("%d vague words in comments, by package %v; there may be %d, and that only falls", count,
			found, vagueWords)
	}
}

// make long runs the tests that ask for testing.Short, by their names. A helper has no name that it could
// run.
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

// A test waits for an event. Where it sleeps, a comment says why, or the clock is that of synctest.
func TestSleepsHaveReasons(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "*_test.go").Output()
	if err != nil {
		t.Skip("no clone: ", err)
	}
	sleeps := 0
	for _, name := range strings.Fields(string(out)) {
		text, err := os.ReadFile(name)
		if err != nil || bytes.Contains(text, []byte(`"testing/synctest"`)) {
			continue
		}
		before := ""
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "time."+"Sleep(") {
				if sleeps++; !strings.Contains(line, " // ") && !strings.Contains(before, "// ") {
					t.Errorf("%s sleeps, and no comment says why:%s", name, line)
				}
			}
			before = line
		}
	}
	if sleeps < 10 {
		t.Errorf("%d sleeps: nothing is tested", sleeps)
	}
}

// editOfRules is an edit of a rule file that changes nothing where the file was reworded.
var editOfRules = regexp.MustCompile(`strings\.Replace(All)?\(\s*(\w*[fF]iles|own|other|(shipped|builtin)\(t\))\[`)

// A test edits the rules with testkit.Replace, which ends it where the text is not there.
func TestEditsOfRulesFind(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "*_test.go", "internal/testkit").Output()
	if err != nil {
		t.Skip("no clone: ", err)
	}
	edits := 0
	for _, name := range strings.Fields(string(out)) {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		edits += bytes.Count(text, []byte("testkit.Replace("))
		if at := editOfRules.FindIndex(text); at != nil {
			t.Errorf("%s edits rules without testkit.Replace: %s", name, text[at[0]:at[1]])
		}
	}
	if edits < 20 {
		t.Errorf("%d edits: nothing is tested", edits)
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
