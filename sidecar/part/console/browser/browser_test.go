// Package browser tests the console in a real Chromium.
package browser

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
)

// chromium is where the browser is; empty: there is none.
func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// browser is the browser of all tests. Each has a context of its own in it, with cookies and storage of its own.
var browser context.Context

func TestMain(m *testing.M) {
	if chromium() == "" {
		fmt.Println("skipped: the console in a browser; there is no chromium here (apt-get install chromium)")
		return
	}
	_ = flag.Set("test.parallel", "4") // they wait for pages, and hardly need the machine
	os.Exit(inBrowser(m.Run))
}

// inBrowser runs the tests while the browser is there.
func inBrowser(run func() int) int {
	folder, err := os.MkdirTemp("", "browser")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium()),
		chromedp.NoSandbox, chromedp.UserDataDir(folder),
		// It draws each frame itself else, as a graphics card would: three times the processor's time.
		chromedp.DisableGPU, chromedp.Flag("disable-software-rasterizer", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("host-resolver-rules",
			"MAP evil.example 127.0.0.1"))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, closed := chromedp.NewContext(alloc)
	defer closed()
	if err := chromedp.Do(ctx); err != nil { // the browser ends with the context that starts it
		panic(err)
	}
	browser = ctx
	code := run()
	if err := chromedp.Cancel(ctx); err != nil { // waits for the browser's end
		fmt.Println(err)
	}
	return code
}

// tab is a page of the browser, and what went wrong on it.
type tab struct {
	t       *testing.T
	ctx     context.Context
	s       *stage.Server
	faults  sync.Map // what the pages say to their console
	strange bool     // they are not ours alone, and are to be refused
	looked  int      // pages
}

// open opens a page in a context of its own.
func open(t *testing.T, s *stage.Server) *tab {
	t.Helper()
	ctx, closed := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(closed)
	ruletest.Must(t, chromedp.Do(ctx)) // the page ends with the context that starts it
	ctx, done := context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(done)
	b := &tab{t: t, ctx: ctx, s: s}
	b.do(chromedp.EmulateViewport(1280, 800))
	said := chromedp.Console(ctx)
	var listens sync.WaitGroup
	listens.Go(func() {
		for m, err := range said {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleException || m.Type == chromedp.ConsoleError &&
				!strings.Contains(m.Text, "Failed to load resource") {
				b.faults.Store(m.Text, true)
			}
		}
	})
	t.Cleanup(func() {
		done()
		listens.Wait()
		b.faults.Range(func(fault, _ any) bool {
			if !b.strange {
				t.Errorf("the page says: %s", fault)
			}
			return true
		})
	})
	return b
}

// within is the time of one step.
const within = 2 * time.Minute

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, done := context.WithTimeout(b.ctx, within)
	defer done()
	if err := chromedp.Do(ctx, steps...); err != nil {
		text, _ := chromedp.Run(b.ctx,
			chromedp.Evaluate[string]("location + '\\n' + document.body?.innerText"))
		b.t.Fatalf("%v\nat %.1500s", err, text)
	}
}

// to goes to a path.
func (b *tab) to(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.s.Console+path), chromedp.WaitReady("html[data-ready]"))
}

// eval is what an expression is on the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	out, err := evaluate[T](b, expression)
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

func evaluate[T any](b *tab, expression string) (T, error) {
	ctx, done := context.WithTimeout(b.ctx, within)
	defer done()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// soon waits until an expression is true. The library's way needs eval, which the pages forbid.
func (b *tab) soon(expression string) {
	b.t.Helper()
	for range 2400 {
		// an error: another page is on its way
		if ok, err := evaluate[bool](b, expression); err == nil && ok {
			return
		}
		time.Sleep(50 * time.Millisecond) // the page has no event for each expression
	}
	b.t.Fatalf("not soon: %s\n%.1500s", expression,
		eval[string](b, "location + '\\n' + document.body?.innerText"))
}

// at waits for a page with a title that begins so, until it takes keys.
func (b *tab) at(title string) {
	b.t.Helper()
	b.soon(`document.documentElement?.dataset.ready === "" && document.querySelector("h1")?.textContent.startsWith("` + title + `") === true`)
}

// signIn signs in by the form.
func (b *tab) signIn(name, token string) {
	b.t.Helper()
	b.to("/console/")
	b.do(chromedp.WaitVisible("#token"), chromedp.SendKeys("#name", name),
		chromedp.SendKeys("#token", token+"\r"))
	b.at("Live")
}

// looks runs for each size and each scheme in which people look at a page: one page wide in the light and
// narrow in the dark, the next one the other way round. Pictures are of all four.
func (b *tab) looks(name string, check func(look string)) {
	b.t.Helper()
	b.looked++
	for i, width := range []int64{1280, 390} {
		for j, scheme := range []string{"light", "dark"} {
			if (i+j+b.looked)%2 > 0 && os.Getenv(shots) == "" {
				continue
			}
			b.do(chromedp.EmulateViewport(width, 844))
			_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia,
				emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			ruletest.Must(b.t, err)
			look := fmt.Sprintf("%s-%d-%s", name, width, scheme)
			check(look)
			b.shot(look)
		}
	}
}

// shots is the variable that names a folder for pictures.
const shots = "CONSOLE_SHOTS"

// shot keeps a picture for people, where the environment names a folder for it.
func (b *tab) shot(name string) {
	b.t.Helper()
	dir := os.Getenv(shots)
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	ruletest.Must(b.t, err)
	ruletest.Must(b.t, os.MkdirAll(dir, 0o755))
	ruletest.Must(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// peek is the body of a request, which stays whole.
func peek(r *http.Request) (string, error) {
	doc, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(doc))
	return string(doc), err
}
