package confine

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/policy/paths"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

type shippedRules struct{ t *testing.T }

func (r shippedRules) Set() *ruleset.Set { return ruletest.Shipped(r.t, Part{}.Rules()...) }

// A command that was let through with a ticket finds the proxy, and confine prints what was
// refused there, which curl does not say. Then its pass is gone.
func TestConfineTellsWhatWasRefused(t *testing.T) {
	if _, err := missingParts(walls.Probe()); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not here")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ruletest.Must(t, err)
	book := NewPassStore(l.Addr().String(), PassLifetime, time.Now)
	log, metrics := slog.New(slog.DiscardHandler), telemetry.New()
	judge := guard.New(guard.Config{World: guard.NewWorld(guard.Machine{}).WithServer(l.Addr().String()),
		Now: time.Now, Metrics: metrics, Log: log})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	proxy := NewProxy(ProxyConfig{Rules: shippedRules{t}, Judge: judge, Passes: book,
		Resolver: net.DefaultResolver, Metrics: metrics, Log: log}, l)
	go func() { ended <- proxy.Serve(ctx) }()
	defer func() {
		stop()
		ruletest.Must(t, <-ended)
	}()
	dir := t.TempDir()
	folder, err := OpenFolder(filepath.Join(dir, "tickets"))
	ruletest.Must(t, err)
	work := filepath.Join(dir, "work")
	ruletest.Must(t, os.Mkdir(work, 0o755))
	made, err := OpenRepoLog(filepath.Join(dir, "repositories"))
	if err != nil {
		t.Fatal(err)
	}
	issuer := Issuer{Folder: folder, Repos: made, Program: "gpt-oss-executor",
		Records: filepath.Join(dir, "running"), Network: book, Now: time.Now}
	const command = "curl -sS https://10.0.0.7/; curl -sS https://unknown.example.org/; exit 3"
	w, err := issuer.Permit(ruletest.Shipped(t, Part{}.Rules()...), guard.Permit{Command: command, Roots: paths.Roots{Home: dir,
		Write: []string{work}}})
	ruletest.Must(t, err)
	var out, told bytes.Buffer
	t.Chdir(work)
	code := cli.Run([]string{"confine", "--ticket", w.Ticket, "--", "bash", "-c", command},
		cli.Env{Parts: []cli.Part{Part{}}, In: os.Stdin, Out: &out, Err: &told,
			Environ: []string{"PATH=" + os.Getenv("PATH"),
				"HOME=" + work}})
	for _, want := range []string{
		"403", // what curl says
		"gpt-oss-executor confine: network: 10.0.0.7:443 is refused: This is an address inside a private network.",
		"gpt-oss-executor confine: network: unknown.example.org:443 is refused: the command does not name this host",
	} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("no %q in\n%s", want, told.String())
		}
	}
	if code != 3 || out.Len() > 0 {
		t.Errorf("code %d, %s", code, out.String())
	}
}
