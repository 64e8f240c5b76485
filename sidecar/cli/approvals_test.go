package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/sidecar/admin"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/live"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// questions are those of one script.
type questions struct {
	store *approvals.Store
	rules string
}

type questionsKey struct{}

func (q *questions) call(command string) approvals.Call {
	command = strings.ReplaceAll(command, "<RLO>", "\u202e")
	args, _ := json.Marshal(map[string]any{"command": command, "timeout": 30}) // texts and numbers
	return approvals.Call{Tool: "exec", Arguments: string(args), Command: command, Cwd: "/srv/shop",
		Session: "s1", Agent: "main", Model: "gpt-oss",
		Policy: q.rules, Commands: []approvals.Command{{Argv: strings.Fields(command), Cwd: "/srv/shop",
			Env: []string{"GIT_DIR"}}}}
}

// serve starts an admin API over a new store in which the commands wait.
func (q *questions) serve(commands []string) (server *httptest.Server, ids []string, err error) {
	metrics, log := telemetry.New(), slog.New(slog.DiscardHandler)
	src, err := RuleSource("", "", Env{Parts: Parts, Defaults: os.DirFS("../..")})
	if err != nil {
		return nil, nil, err
	}
	live, err := live.Open(ruletest.Shared(ruletest.Loader()), src, "", log, metrics)
	if err != nil {
		return nil, nil, err
	}
	q.store, q.rules = guard.NewApprovals(live.Set().Limits, time.Now, metrics, nil, ""), live.Set().Version
	admin := &admin.API{Rules: live, Approvals: q.store, Drafts: admin.NewDraftLimiter(),
		Misses: admin.NewMisses(time.Now), Token: "secret", Local: true, Metrics: metrics, Log: log}
	for _, command := range commands {
		why := approvals.Reason{Rule: "force", Place: "exec.yaml:7", Why: "A force push overwrites.",
			Start: 4, End: 11}
		if program, _, code := strings.Cut(command, " -c "); code {
			why.All = []policy.Reason{{Rule: "inline-code",
				Covers: "exec: " + program + " -c with any code, in /srv/shop"}}
		}
		e := q.store.Request(q.call(command), why)
		ids = append(ids, e.ID)
	}
	return httptest.NewServer(admin.Handler()), ids, nil
}

func asks(ts *testscript.TestScript, _ bool, args []string) {
	server, ids, err := ts.Value(questionsKey{}).(*questions).serve(args)
	ts.Check(err)
	ts.Defer(server.Close)
	ts.Setenv("ASKS", server.URL)
	for i, id := range ids {
		ts.Setenv(fmt.Sprint("ID", i+1), id)
	}
}

func sends(ts *testscript.TestScript, neg bool, args []string) {
	q := ts.Value(questionsKey{}).(*questions)
	c := q.call(args[0])
	if (q.store.Take(c.Binding()) != "") == neg {
		ts.Fatalf("%s: passes: %v", args[0], neg)
	}
}

// Whoever watches sees what waits, and then each change once.
func TestApprovalsWatch(t *testing.T) {
	defer goleak.VerifyNone(t)
	var q questions
	server, ids, err := q.serve([]string{"first", "second"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := admin.NewClient(server.URL, "secret")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := q.store.Deny(ids[0], "bob", ""); err != nil {
		t.Fatal(err)
	}
	read, write := io.Pipe()
	a := approvalFlags{admin: client, watch: true, env: Env{Parts: Parts, Out: write}}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.list(ctx, "", "") }()
	lines := bufio.NewScanner(read)
	next := func(want string) {
		t.Helper()
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
			t.Errorf("%q, want %q", lines.Text(), want)
		}
	}
	next(ids[1] + "  pending ")
	if _, err := q.store.Allow(ids[1], "ada"); err != nil {
		t.Fatal(err)
	}
	next(ids[1] + "  allowed ")
	third := q.call("third")
	id := q.store.Request(third, approvals.Reason{}).ID
	next(id + "  pending ")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// commandText is a call as approvals show has it.
func commandText(t *testing.T, a admin.Approval) string {
	var r Rows
	r.command(a)
	var out bytes.Buffer
	if err := (Env{Parts: Parts, Out: &out}).Printer(false).Document(nil, r.List); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCommandText(t *testing.T) {
	for foreign, want := range map[string]string{"": "  | ls\n",
		"\u0455 U+0455": "  | ls\n  not ASCII \u0455 U+0455\n"} {
		a := admin.Approval{Entry: approvals.Entry{Call: approvals.Call{Command: "ls",
			Arguments: `{"c":"ls"}`}}}
		if foreign != "" {
			a.Foreign = []string{foreign}
		}
		if got := commandText(t, a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	a := admin.Approval{Shown: "{\n}"}
	for _, row := range []struct {
		call approvals.Call
		why  approvals.Reason
		want string
	}{
		{approvals.Call{Arguments: "{\n}"}, approvals.Reason{}, "  | {\n  | }\n"},
		{approvals.Call{Command: "ls", Arguments: `{"cmd":"ls"}`}, approvals.Reason{}, "  | ls\n"},
		{approvals.Call{Command: "ls", Arguments: `{"cmd":"ls","env":{"A":"<b>"}}`}, approvals.Reason{}, "  | ls\n  with      env={\"A\":\"<b>\"}\n"},
		{approvals.Call{Command: "ls", Arguments: `ls`}, approvals.Reason{}, "  | ls\n  with      ls\n"},
		{approvals.Call{Command: "a\nrm\u200b é\nb", Arguments: `{"c":"a\nrm\u200b é\nb"}`}, approvals.Reason{Start: 2, End: 7}, "  | a\n  | rm⟨U+200B⟩ é\n    ^^^^^^^^^^\n  | b\n"},
		{approvals.Call{Command: "ab\ncd", Arguments: `{"c":"ab\ncd"}`}, approvals.Reason{Start: 1, End: 99}, "  | ab\n     ^\n  | cd\n    ^^\n"},
		{approvals.Call{Command: "ab", Arguments: `{"c":"ab"}`}, approvals.Reason{Start: 9, End: -1}, "  | ab\n"},
	} {
		a.Call, a.Reason = row.call, row.why
		if got := commandText(t, a); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}
