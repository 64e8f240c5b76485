package confine

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// aMinute is how long the commands of these tests last.
func aMinute(*ruleset.Set) time.Duration { return time.Minute }

// A pass says what the permit says, and is good until its command has ended or cannot run
// any more.
func TestBook(t *testing.T) {
	now := time.Now()
	set := ruletest.Shipped(t)
	b := NewPassStore("127.0.0.1:1", aMinute, func() time.Time { return now })
	admit := func(p guard.Permit) (ticket, secret string) {
		t.Helper()
		url, err := b.Admit(set, p)
		ruletest.Must(t, err)
		rest, found := strings.CutSuffix(strings.TrimPrefix(url, "http://"), "@127.0.0.1:1")
		ticket, secret, ok := strings.Cut(rest, ":")
		if !found || !ok {
			t.Fatal(url)
		}
		return ticket, secret
	}
	who := policy.Subject{Agent: "main", Session: "s1"}
	ticket, secret := admit(guard.Permit{Who: who, Rules: "v", Hosts: []string{"example.com",
		"git.example.com:8443", "[2606:2800:21f::1]"}})
	other, otherSecret := admit(guard.Permit{Understood: true})
	p, found := b.Pass(ticket)
	if !found || p.Secret != secret || p.Subject != who || p.Rules != "v" || p.Tool != "exec" || p.Any ||
		p.Sends || !p.Known || len(p.Named) != 3 {
		t.Errorf("%+v", p)
	}
	for i, server := range []string{"example.com:443", "git.example.com:8443", "[2606:2800:21f::1]:443"} {
		if !p.Named[i].Covers(urls.Tunnel(server)) {
			t.Errorf("%v does not cover %s", p.Named[i], server)
		}
	}
	if q, found := b.Pass(other); !found || !q.Any || !q.Sends || ticket == other || secret == otherSecret {
		t.Errorf("%+v", q)
	}
	if _, found := b.Pass("nobody"); found {
		t.Error("a pass for nobody")
	}
	b.End(other)
	b.End(other)
	if _, found := b.Pass(other); found {
		t.Error("a command that has ended has a pass")
	}
	late, _ := b.Pass(ticket)
	now = now.Add(time.Minute + time.Second)
	if _, found := b.Pass(ticket); found {
		t.Error("a pass is good for ever")
	}
	select {
	case <-late.Done:
	default:
		t.Error("what is open stays open")
	}
	if _, err := b.Admit(set, guard.Permit{Hosts: []string{"*.com"}}); err == nil {
		t.Error("a pass for everything")
	}
}

// A command that the kernel holds reaches the proxy and nothing else; when it has ended, it
// is told what was refused, and its pass is good for nothing.
func TestConfined(t *testing.T) {
	for _, part := range walls.Probe().Parts {
		if part.Part == walls.PartTCP && part.Missing != "" {
			t.Skip("this machine cannot confine: ", part.Missing)
		}
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not here")
	}
	var book *PassStore
	r := newRigWith(t, proxyLimits{}, echo, func(r *rig) {
		book = NewPassStore(r.Addr(), aMinute, time.Now)
		r.cfg.Passes = book
	})
	proxy, err := book.Admit(r.Set(), guard.Permit{Hosts: []string{"example.com"}})
	ruletest.Must(t, err)
	dir := t.TempDir()
	box := walls.System()
	box.Command = []string{"bash", "-c", fmt.Sprintf(`curl -sS http://example.com/a; echo; curl -sS http://other.dev/; curl -sSk https://example.com/b; echo
		curl -sS --noproxy '*' --max-time 5 %s/c && echo "it is out"`, r.net.Plain.URL)}
	box.Dir, box.Write, box.Records = dir, []string{dir}, filepath.Join(dir, "records")
	box.Net, box.Proxy = walls.NetProxy, r.Addr()
	box.Env = walls.WithProxy([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, proxy)
	out, err := os.CreateTemp(t.TempDir(), "")
	ruletest.Must(t, err)
	defer out.Close()
	_, err = walls.Run(box, walls.Streams{Out: out, Err: out})
	ruletest.Must(t, err)
	_, err = out.Seek(0, io.SeekStart)
	ruletest.Must(t, err)
	text, err := io.ReadAll(out)
	ruletest.Must(t, err)
	must(t, "the command", string(text), "GET example.com /a", "GET example.com /b",
		"other.dev:80 is refused: the command does not name this host")
	if strings.Contains(string(text), "/c") || strings.Contains(string(text), "it is out") {
		t.Errorf("it gets past the proxy:\n%s", text)
	}
	refused, err := walls.ReportEnd(context.Background(), proxy)
	if err != nil || len(refused) != 1 || !strings.HasPrefix(refused[0], "other.dev:80 is refused") {
		t.Errorf("%q, %v", refused, err)
	}
	if _, err := walls.ReportEnd(context.Background(), proxy); err == nil || !strings.Contains(err.Error(), "407") {
		t.Errorf("a second farewell: %v", err)
	}
	ruletest.Soon(t, "settled",
		func() bool {
			return strings.Contains(fmt.Sprint(r.logged()), "CONNECT example.com:443 connected  x1")
		})
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}
