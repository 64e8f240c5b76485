package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	days "github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// day plays the model of a session: one reply after the other, whatever became of the one
// before.
type day struct {
	session  *days.Session
	messages []string         // of the user, one for each turn
	replies  [][]script.Reply // of the model, for each turn
	first    bool             // of its owner: its agent is main

	mu   sync.Mutex
	turn int
	next int // reply of the turn
}

func newDay(t *testing.T, s *days.Session, first bool) *day {
	t.Helper()
	d := &day{session: s, first: first}
	for i, c := range s.Calls {
		if c.User != "" {
			d.messages = append(d.messages, c.User)
			d.replies = append(d.replies, nil)
		}
		turn := &d.replies[len(d.replies)-1]
		if c.Full {
			*turn = append(*turn, servers.OverflowVLLM(131072, 140000))
		}
		made := shaped(t, c)
		for j := range made {
			for k := range made[j].Calls {
				made[j].Calls[k].ID = fmt.Sprintf("chatcmpl-tool-%s-%d", s.Name, i)
			}
		}
		if c.SameReply {
			last := &(*turn)[len(*turn)-1]
			last.Calls = append(last.Calls, made[0].Calls...)
			continue
		}
		*turn = append(*turn, made...)
	}
	return d
}

// shaped is a call as the model or its server spoils it.
func shaped(t *testing.T, c days.SessionCall) []script.Reply {
	t.Helper()
	if c.Form == "" {
		return []script.Reply{script.Native(c.Tool, string(c.Args))}
	}
	n := slices.IndexFunc(script.Kinds(), func(k script.Kind) bool { return k.ID == c.Form })
	if n < 0 {
		t.Fatalf("there is no kind of damage named %s", c.Form)
	}
	return script.Kinds()[n].Call(c.Tool, string(c.Args))
}

// mark is in each message of the user, turnMark in those of one turn.
func (d *day) mark() string             { return "(" + d.session.Name + ", " }
func (d *day) turnMark(turn int) string { return fmt.Sprintf("%spart %d)", d.mark(), turn) }

// agent is the gateway's name of who spends the day.
func (d *day) agent() string {
	if d.first {
		return mainAgent
	}
	return d.session.Name
}

// begin goes on to a turn if the one before is over, and says whether it has.
func (d *day) begin(turn int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.next < len(d.replies[d.turn]) {
		return false
	}
	d.turn, d.next = min(turn, len(d.replies)-1), 0
	if turn == len(d.replies) {
		d.next = len(d.replies[d.turn])
	}
	return true
}

// choose is the next reply. The gateway also wants summaries, and tells of programs that
// have ended; neither is part of the day.
func (d *day) choose(q script.Request) *script.Reply {
	d.mu.Lock()
	defer d.mu.Unlock()
	reply := script.Text("Done with " + d.turnMark(d.turn))
	asked := slices.ContainsFunc(q.Messages, func(m script.Message) bool {
		return m.Role == "user" && strings.Contains(m.Text, d.turnMark(d.turn))
	})
	switch {
	case len(q.Tools) == 0:
		reply = d.summary(q)
	case !asked:
		reply = script.Text("Noted.")
	case d.next < len(d.replies[d.turn]):
		reply = withRunning(d.replies[d.turn][d.next], q)
		d.next++
	}
	return &reply
}

// pending is the request that a summary must begin its open ones with, if there is one.
var pending = regexp.MustCompile(`(?s)Make the exact request below the first item.*?<untrusted-text>\n(.*?)\n</untrusted-text>`)

// summary is a conversation made short, under the headings that the gateway insists on.
func (d *day) summary(q script.Request) script.Reply {
	open := "None."
	if found := pending.FindStringSubmatch(q.Messages[len(q.Messages)-1].Text); found != nil {
		open = "- " + found[1]
	}
	return script.Text("## Decisions\nNone.\n\n## Open TODOs\nNone.\n\n## Constraints/Rules\nNone.\n\n" +
		"## Pending user asks\n" + open + "\n\n## Exact identifiers\n" + d.session.Workspace + "\n")
}

// withRunning is a reply with the id of the program that was started last.
func withRunning(r script.Reply, q script.Request) script.Reply {
	r.Calls = slices.Clone(r.Calls)
	for _, m := range q.Messages {
		id := running.FindStringSubmatch(m.Text)
		if m.Role != "tool" || id == nil {
			continue
		}
		for i, c := range r.Calls {
			r.Calls[i].Arguments = strings.ReplaceAll(c.Arguments, days.Running, id[1])
		}
	}
	return r
}

// settings are what the command openclaw prints, and an agent for each day: a file for
// gateway.sh. The workspace of the first is the default one.
func settings(t *testing.T, api, url string, days []*day) string {
	t.Helper()
	printed, err := exec.Command(binary, "openclaw", "--api", api, "--url", url+"/v1").Output()
	if err != nil {
		t.Fatalf("openclaw: %v", err)
	}
	var more map[string]map[string]any
	if err := json.Unmarshal(printed, &more); err != nil {
		t.Fatalf("openclaw: %v in %s", err, printed)
	}
	delete(more["models"], "mode") // a gateway that is told to merge fetches a catalog
	more["cron"] = map[string]any{"enabled": true}
	more["memory"] = map[string]any{"search": map[string]any{"enabled": true}}
	more["plugins"] = map[string]any{"enabled": true} // the tools of the memory are one
	entries := map[string]any{}
	for _, d := range days {
		entries[d.agent()] = map[string]any{"workspace": d.session.Workspace}
	}
	more["agents"]["defaults"].(map[string]any)["workspace"] = days[0].session.Workspace
	entries[days[0].agent()] = map[string]any{}
	more["agents"]["entries"] = entries
	text, err := json.Marshal(more)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "more.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// stayAtHome makes programs in this home folder fetch nothing.
func stayAtHome(t *testing.T, home string) {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		".npmrc":               "registry=http://127.0.0.1:9/\nfetch-retries=0\nupdate-notifier=false\n",
		".config/pip/pip.conf": "[global]\nindex-url = http://127.0.0.1:9/\nretries = 0\n",
		".config/go/env":       "GOPROXY=off\nGOSUMDB=off\nGOTOOLCHAIN=local\nGOCACHE=" + string(cache),
		".curlrc":              "noproxy = \"127.0.0.1,localhost,::1\"\nproxy = \"http://127.0.0.1:9\"\n",
		".gitconfig":           "[user]\n\tname = Ada\n\temail = ada@example.com\n",
	} {
		file := filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
