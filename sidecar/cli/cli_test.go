package cli

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// builtin is the variable that tells the program under test where a copy of the
// files stands that are built into the real one.
const builtin = "TEST_BUILTIN"

// said is the folder in which each program of a script leaves what it says, by its pid: a
// script cannot read that of a program which still runs.
const said = "TEST_SAID"

// gone is the value of a variable that a script takes away: testscript alone can only empty it.
const gone = "(unset)"

// Parts are those of the program; TestMain sets them.
var Parts []Part

// Main runs the tests of the program with its parts.
func Main(m *testing.M, parts []Part) {
	Parts = parts
	testscript.Main(m, map[string]func(){
		"gpt-oss-executor": func() {
			all, heard := os.Getenv(builtin), hearing()
			environ := slices.DeleteFunc(os.Environ(),
				func(pair string) bool { return strings.HasSuffix(pair, "="+gone) })
			os.Exit(Run(os.Args[1:], Env{Parts: Parts,
				In: os.Stdin, Out: io.MultiWriter(os.Stdout, heard), Err: io.MultiWriter(os.Stderr, heard),
				Environ:  environ,
				Defaults: os.DirFS(all),
			}))
		},
	})
}

// TestScripts runs testdata/*.txtar. In them
//
//	unset NAME              takes a variable away
//	exits N PROGRAM ARGS…   runs a program that must exit with N
//	serves                  waits until the server that was started last says where: $SERVER and $ADMIN
//	listens                 waits until noise serve says where: $NOISE
//	says PATTERN            waits until the program that was started last says it
//	appears FILE            waits until it is there
//	jsonpath FILE PATH WANT compares one value of a JSON file, or a JSON line
//	logs DIR                writes a decision log, of the last hours
//	get URL [HOST]          prints what is answered; [!] get must not be 200
//	shows FILE              compares the last output, versions of rules aside
//	asks COMMAND…           starts an admin API at $ASKS where these wait for a person, as $ID1, $ID2 …
//	sends COMMAND           lets the model send it again; [!] sends must not pass
//
// $ANY lets a server choose its port, so that no other has it. $BUSY is an address that is
// taken, $MODEL the URL of a model server, $LONG too long a name.
func TestScripts(t *testing.T) {
	all := t.TempDir()
	for _, dir := range []string{"rules", "prompts", "schemas"} {
		if err := os.CopyFS(filepath.Join(all, dir), os.DirFS("../../"+dir)); err != nil {
			t.Fatal(err)
		}
	}
	busy := listen(t)
	t.Cleanup(func() { busy.Close() })
	model := httptest.NewServer(script.New())
	t.Cleanup(model.Close)
	testscript.Run(t, testscript.Params{
		Files: scripts(t, testing.Short()), UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv(builtin, all)
			e.Setenv(said, filepath.Join(e.WorkDir, ".said"))
			e.Setenv("ANY", "127.0.0.1:0")
			e.Setenv("BUSY", busy.Addr().String())
			e.Setenv("MODEL", model.URL)
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, ".state"))
			e.Setenv("LONG", strings.Repeat("x", 300))
			e.Values[questionsKey{}] = &questions{}
			return os.Mkdir(e.Getenv(said), 0o755)
		},
		Condition: func(name string) (bool, error) { // [confines]: this machine can
			w := (Env{Parts: Parts}).walls(nil)
			return !slices.ContainsFunc(w.Holds, func(h Hold) bool {
				return h.Missing != "" && slices.Contains([]string{"files", "tcp", "udp", "unix", "signals"},
					h.Part)
			}), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "serves": serves, "jsonpath": jsonpath, "get": get, "shows": shows,
			"listens": listens,
			"says":    says, "appears": appears, "asks": asks, "sends": sends, "logs": logs, "unset": unset,
		},
	})
}

// scripts are all of them, or with -short those that leave a program running: only there
// has the race detector, for which -short is, something to find.
func scripts(t *testing.T, short bool) []string {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	if !short {
		return files
	}
	return slices.DeleteFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return !behind.Match(text)
	})
}

// behind is a line that leaves a program running: it ends in & or &NAME&.
var behind = regexp.MustCompile(`(?m)^!? ?exec .*&$`)

func listen(t testing.TB) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func unset(ts *testscript.TestScript, _ bool, args []string) { ts.Setenv(args[0], gone) }

func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// hearing is, for a program of a script, a file that the script can read at once.
func hearing() io.Writer {
	dir := os.Getenv(said)
	if dir == "" {
		return io.Discard
	}
	f, err := os.Create(filepath.Join(dir, strconv.Itoa(os.Getpid())))
	if err != nil {
		panic(err)
	}
	return f
}

var (
	serving = regexp.MustCompile(`\bhttp_server_start\b.*?\baddress\W+http://(.+?)/v1`)
	adminAt = regexp.MustCompile(`\badmin_start\b.*?\baddress\W+http://([\w.:]+)`)
)

func serves(ts *testscript.TestScript, _ bool, _ []string) {
	text := awaits(ts, serving)
	ts.Setenv("SERVER", string(serving.FindSubmatch(text)[1]))
	if at := adminAt.FindSubmatch(text); at != nil {
		ts.Setenv("ADMIN", string(at[1]))
	}
}

var noisy = regexp.MustCompile(`(?m)^model \S+ at (\S+)$`)

func listens(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Setenv("NOISE", string(noisy.FindSubmatch(awaits(ts, noisy))[1]))
}

func says(ts *testscript.TestScript, _ bool, args []string) {
	awaits(ts, regexp.MustCompile(args[0]))
}

// awaits waits until the program that was started last says what, and is all that it said.
func awaits(ts *testscript.TestScript, what *regexp.Regexp) []byte {
	all := ts.BackgroundCmds()
	file := filepath.Join(ts.Getenv(said), strconv.Itoa(all[len(all)-1].Process.Pid))
	var text []byte
	in(ts, what.String(), func() bool {
		text, _ = os.ReadFile(file) // it comes
		return what.Match(text)
	})
	return text
}

func appears(ts *testscript.TestScript, _ bool, args []string) {
	in(ts, args[0], func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

// in waits a minute for what is to come.
func in(ts *testscript.TestScript, what string, come func() bool) {
	for end := time.Now().Add(time.Minute); !come(); time.Sleep(20 * time.Millisecond) { // a script is no testing.TB
		if time.Now().After(end) {
			ts.Fatalf("after a minute, still not: %s", what)
		}
	}
}

func get(ts *testscript.TestScript, neg bool, args []string) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Minute}
	req, err := http.NewRequest(http.MethodGet, args[0], nil)
	ts.Check(err)
	if len(args) > 1 {
		req.Host = args[1]
	}
	res, err := client.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	_, err = io.Copy(ts.Stdout(), res.Body)
	ts.Check(err)
	if (res.StatusCode == http.StatusOK) == neg {
		ts.Fatalf("%s: %s", args[0], res.Status)
	}
}

var version = regexp.MustCompile(`\b[0-9a-f]{12}\b`)

func shows(ts *testscript.TestScript, _ bool, args []string) {
	got := version.ReplaceAllString(ts.ReadFile("stdout"), "VERSION")
	if want := ts.ReadFile(args[0]); got != want {
		ts.Fatalf("%s (-want +got):\n%s", args[0], cmp.Diff(want, got))
	}
}

// logs writes decisions about some calls, the first of them two days ago.
func logs(ts *testscript.TestScript, _ bool, args []string) {
	var ago atomic.Int64
	ago.Store(48)
	clock := func() time.Time { return time.Now().Add(-time.Duration(ago.Load()) * time.Hour) }
	// A file each, whatever the clock says when the writer looks at it.
	l, err := decisions.Open(decisions.Config{Dir: ts.MkAbs(args[0]), Now: clock, Wait: time.Minute,
		SegmentBytes: 1, SegmentAge: 96 * time.Hour})
	ts.Check(err)
	for _, d := range []decisions.Decision{
		{Arguments: []byte(`{"command":"ls"}`), Effect: policy.Allow, Outcome: decisions.Passed},
		{Arguments: []byte(`{"command":"psql --password hunter2"}`), Effect: policy.Allow, Outcome: decisions.Passed, Session: "main"},
		{Arguments: []byte(`{"command":"git push -f"}`), Effect: policy.Deny, Outcome: decisions.Refused, Rule: "force", Place: "exec.yaml:7", Why: "Rewrites what others have."},
	} {
		d.Tool, d.Class, d.Enforced, d.Rules = "exec", "exec", true, "0123456789ab"
		ts.Check(l.Add(d))
		ago.Store(1)
	}
	ts.Check(l.AddConnection(decisions.Connection{Ticket: "t1", Tool: "exec", Server: "evil.dev:443",
		Method: "CONNECT", Effect: policy.Deny, Outcome: decisions.Refused, Rule: "hosts", Times: 2,
		Sent: 3}))
	ts.Check(l.Close())
}

func jsonpath(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	path := args[1]
	if !json.Valid([]byte(text)) {
		path = ".." + path // JSON lines
	}
	if got := gjson.Get(text, path).String(); got != args[2] {
		ts.Fatalf("%s is %q, want %q in\n%s", args[1], got, args[2], text)
	}
}
