package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// replies are a morning of a model: good ones, damaged ones, and some that cannot be used.
func replies() map[string]script.Reply {
	return map[string]script.Reply{
		"greet": script.Text("Hello! How can I help?").Thinking("The user says hello."),
		"list":  script.LeakedTurn("exec", `{"cmd":"ls -l reports",}`),
		"read it": script.Native("read",
			`{"path":"reports/june.md"}`).Thinking("I should open the report first."),
		"stripped": script.StrippedHarmony("exec", `{"command":"go test ./... 2>&1 | tail -20"}`),
		"unknown":  script.LeakedHarmony("send_fax", `{"to":"me"}`),
		"destroy":  script.Native("exec", `{"command":"rm -rf / --no-preserve-root"}`),
		"note": script.Native("write",
			`{"path":"/srv/other/notes.txt","content":"Meeting at ten.\nPassword: hunter22 for the lift.\u200b"}`),
		"react":  script.ReAct("read", `{"path": "a.md"}`),
		"down":   script.Fail(500, "CUDA out of memory"),
		"secret": script.Text("<|channel|>analysis<|message|>The key is sk-proj-abcdefgh12345678 here.<|end|><|start|>assistant<|channel|>final<|message|>Use api_key=sk-proj-abcdefgh12345678 for it."),
	}
}

func morning(s *stage.Server) {
	for i, user := range []string{"greet", "list", "read it", "stripped", "unknown", "destroy", "note",
		"react", "down", "secret"} {
		s.Ask(fmt.Sprintf("agent:main:chat-%d", i/3), user, i%2 == 0)
	}
}

// Every page at each size and in each scheme: labels, contrast, no sideways scrolling.
func TestPages(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens,
		stage.Model(replies(), script.Scenario{Name: "better", Steps: []script.Reply{
			script.LeakedHarmony("send_fax", `{"to":"me"}`), script.LeakedTurn("read", `{'path': 'fax.md'}`),
		}}))
	morning(s)
	s.Ask("agent:main:chat-9", "better", false)
	b := open(t, s)
	b.to("/console/")
	b.looks("sign-in", b.legible)
	b.signIn("Sam", stage.Approver)
	for _, page := range []struct{ name, path string }{{"live", "/console/"}, {"health", "/console/health"},
		{"approvals", "/console/approvals"}, {"nothing", "/console/nothing"}} {
		b.to(page.path)
		b.looks(page.name, b.legible)
	}
	for i, word := range []string{"repaired", "again", "denied", "given-up", "failed"} {
		b.to("/console/?outcome=" + word)
		href := eval[string](b, `document.querySelector("[data-item]")?.getAttribute("href") ?? ""`)
		if href == "" {
			t.Errorf("no turn is %s", word)
			continue
		}
		b.to(href)
		b.looks(fmt.Sprintf("turn-%d-%s", i, word), b.legible)
	}
}

// Every page fits at every width, with a token and without; its header has one row on a wide screen, and cuts off no page.
func TestWidths(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*config.Settings){"signed in": stage.Tokens,
		"no token": func(*config.Settings) {}} {
		s := stage.Open(t, change, stage.Model(replies()))
		morning(s)
		b := open(t, s)
		b.to("/console/")
		if name == "signed in" {
			b.signIn("Sam of the night shift", stage.Approver)
		}
		pages := eval[[]string](b, `[...document.querySelectorAll(".top nav a")].map((a) => a.getAttribute("href"))`)
		if len(pages) < 8 {
			t.Errorf("the header leads to %v", pages)
		}
		for _, page := range pages {
			b.do(chromedp.EmulateViewport(1280, 844))
			b.to(page)
			for width := int64(320); width <= 1280; width += 80 {
				b.do(chromedp.EmulateViewport(width, 844))
				if fault := eval[string](b, headerScript); fault != "" {
					t.Errorf("%s, %s, %d pixels: %s", name, page, width, fault)
				}
			}
		}
	}
}

const headerScript = `(() => {
  const box = (name) => document.querySelector(name).getBoundingClientRect();
  const [top, nav, who, pages] = [box('.top'), box('.top nav'), box('.who'), document.querySelector('.top nav')];
  if (document.documentElement.scrollWidth > innerWidth) return 'the page is wider than the screen';
  if (top.right < document.documentElement.clientWidth) return 'the header ends early';
  if (who.right > top.right || nav.right > top.right + 8) return 'the header is cut off';
  if (nav.right > who.left && nav.bottom > who.top && nav.top < who.bottom) return 'its parts lie on each other';
  if (pages.scrollWidth > pages.clientWidth && getComputedStyle(pages).overflowX !== 'auto') return 'pages are out of reach';
  if (innerWidth >= 1280 && top.height > 60) return 'it has two rows';
  return '';
})()`

// legible holds the page to what everybody needs: axe-core finds nothing serious, text stands out from its
// ground, there is one h1, and nothing is wider than the screen.
func (b *tab) legible(look string) {
	b.t.Helper()
	time.Sleep(100 * time.Millisecond) // media features change in the next frame
	for _, fault := range eval[[]string](b, faultsScript) {
		b.t.Errorf("%s: %s", look, strings.TrimSpace(fault))
	}
	script, err := axe()
	if err != nil {
		b.t.Logf("skipped: what axe-core finds: %v", err)
		return
	}
	if !eval[bool](b, `!!window.axe`) {
		eval[bool](b, script+`;true`)
	}
	for _, fault := range eval[[]string](b, axeScript) {
		b.t.Errorf("%s: %s", look, fault)
	}
}

// axe is axe-core, which finds what keeps people from using a page.
var axe = sync.OnceValues(func() (string, error) {
	const version = "4.14.1"
	dir, err := testkit.CacheFolder("axe-core-"+version, func(dir string) error {
		_, err := testkit.Output(dir, nil, "npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit",
			"--no-fund", "--no-update-notifier", "--no-package-lock", "--loglevel=error", "axe-core@"+version)
		return err
	})
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(dir, "node_modules/axe-core/axe.min.js"))
	return string(text), err
})

// axeScript leaves contrast to faultsScript, which measures it in a hundredth of the time.
const axeScript = `axe.run(document, { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } }).then((found) => found.violations
  .filter((v) => v.impact === 'serious' || v.impact === 'critical')
  .flatMap((v) => v.nodes.map((n) => v.id + ': ' + v.help + ': ' + n.html.slice(0, 120))))`

const faultsScript = `(() => {
  const faults = [];
  const visible = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const known = new Map(); // a page has few colors, and a canvas is slow
  const rgba = (color) => {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const d = canvas.getImageData(0, 0, 1, 1).data;
      known.set(color, [d[0], d[1], d[2], d[3] / 255]);
    }
    return known.get(color);
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgba(getComputedStyle(e).backgroundColor);
      if (c[3] > 0.98) return c;
    }
    return rgba('Canvas');
  };
  const light = (c) => {
    const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || seen.has(e) || !visible(e) || e.closest('.unseen, script, option')) continue;
    seen.add(e);
    const [a, b] = [light(rgba(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) faults.push('contrast ' + contrast.toFixed(2) + ': ' + e.outerHTML.slice(0, 120));
  }
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) faults.push('wider than the screen by ' + wide);
  if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1');
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push('twice: #' + id);
  return faults;
})()`
