package setup

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cli"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

func demoCommand(env cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:  "demo",
		Args: cli.Arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := cli.UntilStopped(c)
			defer stop()
			return demoOfCopy(ctx, env)
		},
	}
}

// demoOfCopy runs the demo on a temporary copy of the built-in rules.
func demoOfCopy(ctx context.Context, env cli.Env) (err error) {
	all, err := os.MkdirTemp("", "gpt-oss-executor-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(all)) }()
	dir, work := filepath.Join(all, "rules"), filepath.Join(all, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if _, err := cli.WriteRules(dir, env, true); err != nil {
		return err
	}
	var look stay // a person at a terminal may look at the console
	if terminal.Is(env.In) && terminal.Is(env.Stdout()) {
		look = func(ctx context.Context, console string) { waitForViewer(ctx, console, env) }
	}
	ok, err := runDemo(ctx, demoConfig{Dir: dir, Work: work, Out: env.Out, Stay: look,
		Colours: terminal.ColoursOf(env.Stdout(), env.Lookup),
		Serve: func(ctx context.Context, upstream string, log io.Writer) error {
			s := env.DefaultSettings()
			s.Workspace, config.Of[run.Settings](&s).WorkspaceTools = work, "on"
			s.Upstream, s.Rules = upstream, dir
			if look != nil {
				s.Admin = "127.0.0.1:0"
			}
			return serve(ctx, s, env, log)
		},
	})
	if err == nil && !ok {
		err = cli.ErrReported
	}
	return err
}

// serve runs a sidecar that runs no command, at a free local port. Its log has a line of JSON for each write.
func serve(ctx context.Context, s config.Settings, env cli.Env, log io.Writer) error {
	config.Of[confine.Settings](&s).Confine = confine.Off
	s.Listen, s.LogFormat = "127.0.0.1:0", "json"
	env.In, env.Out, env.Err = nil, nil, log
	return cli.Serve(ctx, s, env, nil)
}

// waitForViewer prints the address of the console, and waits for a key.
func waitForViewer(ctx context.Context, console string, env cli.Env) {
	fmt.Fprintf(env.Out, "\nThese turns are in the console: %s\nPress Enter when you have seen it. ", console)
	pressed := make(chan struct{})
	go func() { // it ends with the program if no key is pressed
		_, _ = bufio.NewReader(env.In).ReadByte()
		close(pressed)
	}()
	select {
	case <-pressed:
	case <-ctx.Done():
	}
}

// demoConfig configures a demo.
type demoConfig struct {
	Dir     string // folder of rules that the demo may edit
	Work    string // empty folder for a run
	Out     io.Writer
	Colours terminal.Colours
	Serve   Serve
	Stay    stay // called before everything ends; may be nil
}

// stay waits until the demo may end. Meanwhile the sidecar runs, with its console at an address; empty: no
// console.
type stay func(ctx context.Context, console string)

// Serve runs the sidecar until ctx ends, as the command serve does: with the rules in Dir, the workspace
// Work, this model server and a free local port. Each line of its log is one write of JSON.
type Serve func(ctx context.Context, upstream string, log io.Writer) error

// runDemo runs the demo. ok reports whether all results were as expected; others are on Out. An error means
// that the demo could not run.
func runDemo(ctx context.Context, cfg demoConfig) (ok bool, err error) {
	bill := newProgramme()
	st, err := open(ctx, cfg, script.New(bill.scenarios()...))
	if err != nil {
		return false, fmt.Errorf("demo: %w", err)
	}
	p := &demoRun{stage: st, page: page{cfg.Out, cfg.Colours}, dir: cfg.Dir, work: cfg.Work,
		began: time.Now()}
	if err = p.give(ctx, bill); err == nil {
		ok = p.summary()
	}
	if err == nil && cfg.Stay != nil {
		console, _ := st.log.console.Load().(string)
		cfg.Stay(ctx, console)
	}
	if closed := st.close(); err == nil {
		err = closed
	}
	if err != nil {
		return false, fmt.Errorf("demo: %w", err)
	}
	return ok, nil
}

// demoRun is one run of the demo with its results.
type demoRun struct {
	*stage
	page
	dir   string
	work  string
	began time.Time

	kinds, repaired, leaks, wrong int
	versions                      []string // of the rules, in order
}

func (p *demoRun) give(ctx context.Context, bill demoShows) error {
	p.title("gpt-oss-executor: what gpt-oss means, without the sidecar and with it")
	p.note(fmt.Sprintf("a scripted model server at %s, the sidecar at %s; every reply is streamed", p.direct,
		p.served))

	p.title("Calls that arrive damaged")
	if err := p.play(ctx, bill.damaged); err != nil {
		return err
	}
	p.title("What must not become a call or must not leave, and an error in other words")
	if err := p.play(ctx, bill.guarded); err != nil {
		return err
	}
	p.title("Without a gateway: the model works alone in a folder, until it is done")
	if err := p.run(ctx); err != nil {
		return err
	}
	p.title("How soon text arrives")
	if err := p.race(ctx, bill.slow); err != nil {
		return err
	}
	p.title("A rule file is edited while the server runs")
	return p.edits(ctx, bill.house)
}

// summary prints the last line, and reports whether all was as expected.
func (p *demoRun) summary() bool {
	ok := p.wrong == 0 && p.leaks == 0
	p.title("Summary")
	p.verdict(ok, fmt.Sprintf("%d kinds of replies, %d calls repaired, %d leaks, %d wrong; rules %s; %.1f s",
		p.kinds, p.repaired, p.leaks, p.wrong, strings.Join(p.versions, " -> "),
		time.Since(p.began).Seconds()))
	return ok
}

// line is one line of text.
type line struct {
	text string
	ink  terminal.Ink
}

// page prints the demo. It ignores write errors: the exit code tells the result.
type page struct {
	out     io.Writer
	colours terminal.Colours
}

// write prints text, each line indented by so many cells.
func (p *page) write(indent int, l line) {
	for text := range strings.Lines(l.text) {
		fmt.Fprintf(p.out, "%s%s\n", strings.Repeat(" ", indent),
			p.colours.Paint(strings.TrimRight(text, "\n"), l.ink))
	}
}

func (p *page) space() { fmt.Fprintln(p.out) }

func (p *page) title(text string) {
	p.space()
	p.write(0, line{text, terminal.Bold})
}

// note prints a neutral remark.
func (p *page) note(text string) { p.write(2, line{text, terminal.Faint}) }

// verdict prints a result.
func (p *page) verdict(ok bool, text string) { p.write(2, judged(ok, text)) }

func judged(ok bool, text string) line {
	if ok {
		return line{"ok: " + text, terminal.Green}
	}
	return line{"WRONG: " + text, terminal.Red}
}

// diff prints lines that are added to a file.
func (p *page) diff(file, added string) {
	p.space()
	p.write(2, line{"+++ " + file, terminal.Faint})
	for text := range strings.Lines(added) {
		p.write(2, line{"+" + text, terminal.Green})
	}
}

// side is an answer with its label.
type side struct {
	word  string
	lines []line
}

// sides prints answers one below the other.
func (p *page) sides(name, about string, all ...side) {
	p.space()
	p.write(0, line{name + ": " + about, terminal.Plain})
	for _, s := range all {
		word := s.word
		for _, l := range s.lines {
			row := fmt.Sprintf("  %-8s %s", word, p.colours.Paint(l.text, l.ink))
			fmt.Fprintln(p.out, strings.TrimRight(row, " "))
			word = ""
		}
	}
}

// stageTimeout is the timeout for the sidecar to start, or to see an edit.
const stageTimeout = 10 * time.Second

// stage holds the running parts of the demo: model server, sidecar and caller.
type stage struct {
	model          *script.Server
	direct, served string // base URLs without and with the sidecar
	caller         caller
	log            *journal
	ended          chan error // of the sidecar
	close          func() error
}

// open starts everything. After an error nothing runs.
func open(ctx context.Context, cfg demoConfig, model *script.Server) (*stage, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	srv := &http.Server{Handler: model}
	go func() { _ = srv.Serve(l) }() // it ends when it is closed
	st, err := start(ctx, cfg.Serve, "http://"+l.Addr().String()+"/v1")
	if err != nil {
		return nil, errors.Join(err, srv.Close())
	}
	st.model = model
	end := st.close
	st.close = func() error { return errors.Join(end(), srv.Close()) }
	return st, nil
}

// start starts a sidecar in front of the model server at a base URL.
func start(ctx context.Context, serve Serve, direct string) (*stage, error) {
	st := &stage{direct: direct, caller: newCaller(), log: &journal{events: make(chan event, 8)},
		ended: make(chan error, 1)}
	serving, stop := context.WithCancel(context.Background())
	go func() { st.ended <- serve(serving, st.direct, st.log) }()
	st.close = func() error {
		st.caller.http.CloseIdleConnections() // the sidecar waits for those that were never used
		stop()
		return <-st.ended
	}
	started, err := st.next(ctx)
	if err != nil {
		return nil, errors.Join(err, st.close())
	}
	st.served = started.Address
	return st, nil
}

// event is a line of the sidecar's log that the demo waits for.
type event struct{ Event, Address, Version, Problems string }

const (
	eventStarted = "http_server_start"
	eventTaken   = "rules_taken"
	eventRefused = "rules_refused"
	eventConsole = "console_start"
)

// next waits for the next event.
func (st *stage) next(ctx context.Context) (event, error) {
	ctx, stop := context.WithTimeout(ctx, stageTimeout)
	defer stop()
	select {
	case e := <-st.log.events:
		return e, nil
	case err := <-st.ended:
		st.ended <- nil
		return event{}, fmt.Errorf("the sidecar has ended: %w\n%s", err, st.log.rest.String())
	case <-ctx.Done():
		return event{}, fmt.Errorf("wait for the sidecar: %w", ctx.Err())
	}
}

// journal receives the log of the sidecar, a line of JSON for each write, and its other output.
type journal struct {
	events  chan event
	console atomic.Value // its address
	rest    strings.Builder
}

// Write keeps the events.
func (j *journal) Write(text []byte) (int, error) {
	var e event
	if json.Unmarshal(text, &e) != nil {
		return j.rest.Write(text)
	}
	switch e.Event {
	case eventStarted, eventTaken, eventRefused:
		j.events <- e
	case eventConsole:
		j.console.Store(e.Address)
	}
	return len(text), nil
}
