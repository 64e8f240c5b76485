package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/console"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// keys are typed wherever the focus is.
func (b *tab) keys(list ...string) {
	b.t.Helper()
	for _, k := range list {
		b.do(chromedp.KeyEvent(k))
	}
}

// A bad reading is found by the keyboard alone: sign in, filter, open the turn, go back, look at health.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens, stage.Model(replies()))
	b := open(t, s)
	b.to("/console/")
	b.soon(`document.activeElement.id === "name"`)
	b.keys("Sam", "\t", stage.Reader, "\r")
	b.at("Live")
	s.Ask("may", "greet", true)
	s.Ask("june", "list", true)
	b.soon(`document.querySelectorAll("[data-turns] tr").length === 2`)
	b.keys("/")
	b.soon(`document.activeElement.id === "q"`)
	if got := eval[string](b, `document.activeElement.value`); got != "" {
		t.Errorf("the key writes %q into the filter", got)
	}
	b.keys("june")
	b.soon(`document.querySelectorAll("[data-turns] tr").length === 1 && location.search === "?q=june"`)
	s.Ask("may", "greet", true)
	s.Ask("june", "greet", true)
	b.soon(`document.querySelectorAll("[data-turns] tr").length === 2`)
	b.keys("\x1b", "j", "j", "\r")
	b.at("Turn")
	if got := eval[string](b,
		`document.querySelector(".came .as-repaired").textContent`); got != "functions.exec" {
		t.Errorf("repaired is %q", got)
	}
	b.keys("u")
	b.at("Live")
	b.keys("g", "h")
	b.at("Health")
	b.keys("?")
	b.soon(`document.getElementById("help").open`)
	b.keys("\x1b")
	b.soon(`!document.getElementById("help").open`)
	b.to("/console/rules/files/limits.yaml")
	b.keys("\t", "\r") // the skip link
	b.soon(`location.hash === "#main"`)
	if !eval[bool](b, `document.querySelector("[data-up]").getBoundingClientRect().top >= document.querySelector("header").getBoundingClientRect().bottom`) {
		t.Error("the skip link hides the way back below the header")
	}
}

// The focus goes over a page in the order in which people read it, and each stop shows.
func TestFocus(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens, stage.Model(replies()))
	s.Ask("may", "note", false)
	b := open(t, s)
	b.signIn("Ann", stage.Approver)
	b.to("/console/approvals")
	line := regexp.MustCompile(`\.yaml:\d+`)
	want := "Skip to the content, gpt-oss-executor, Live, Approvals1 waiting, Decisions, Runs, Playground, Rules, Experiments, Health, Sign out, Keys ?, Notify me, what would run, paths.yaml:, Why not (the model reads, Deny"
	if got := line.ReplaceAllString(b.stops(17), ".yaml:"); got != want {
		t.Errorf("the focus goes\n%s\nwant\n%s", got, want)
	}
}

// stops are where the focus comes by, in words.
func (b *tab) stops(n int) string {
	b.t.Helper()
	var stops []string
	for range n {
		b.keys("\t")
		stops = append(stops, eval[string](b, `(() => {
			const e = document.activeElement;
			if (getComputedStyle(e).outlineStyle === 'none') return 'no outline: ' + e.outerHTML;
			return (e.labels?.[0]?.textContent ?? e.getAttribute('aria-label') ?? e.textContent).trim().split('\n')[0].slice(0, 24).trim();
		})()`))
	}
	return strings.Join(stops, ", ")
}

// An approver sees a new question without a reload, and answers it; what they write meanwhile stays.
func TestApproving(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens, stage.Model(replies()))
	b := open(t, s)
	b.signIn("Ann", stage.Approver)
	b.to("/console/approvals")
	b.soon(`document.querySelector("#waiting").textContent === "Nothing waits"`)
	s.Ask("may", "note", false)
	b.soon(`document.querySelector("#waiting").textContent === "1 call waits for a person" && document.title.startsWith("(1)")`)
	b.do(chromedp.SendKeys(".answer input", "not that file"))
	b.do(chromedp.Click(".allow"))
	b.soon(`document.querySelector("[role=status].done")?.textContent.endsWith("is allowed.") === true`)
	lines := s.Log.Lines("approval_allowed")
	if len(lines) != 1 || !strings.Contains(lines[0], "Ann (console, token of an approver)") {
		t.Errorf("the log says %q", lines)
	}
	b.soon(`document.querySelector("[data-waiting]").hidden`)
}

// A question that comes between the page and its first news is shown, too.
func TestQuestionBeforeNews(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens, stage.Model(replies()))
	b := open(t, s)
	b.signIn("Ann", stage.Approver)
	_, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{
			Source: `window.News = EventSource; window.EventSource = class { addEventListener() {} close() {} };`})
	ruletest.Must(t, err)
	b.to("/console/approvals")
	b.soon(`document.querySelector("#waiting").textContent === "Nothing waits"`)
	s.Ask("may", "note", false)
	eval[bool](b, `import("/console/static/console.js").then((page) => {
		window.EventSource = News;
		page.listen(document.body.dataset.events);
		return true;
	})`)
	b.soon(`document.querySelector("#waiting").textContent === "1 call waits for a person"`)
}

// What others answer moves nothing: the cards stay where they stand, with what was written into them.
func TestColleague(t *testing.T) {
	t.Parallel()
	hidden, err := json.Marshal(map[string]string{"command": strings.Repeat("\n", 60) +
		"weirdtool --upload \u0430.md\n"})
	ruletest.Must(t, err)
	s := stage.Open(t, stage.Tokens, stage.Model(map[string]script.Reply{
		"call-1": script.Native("exec", string(hidden)), "call-2": script.Native("write",
			`{"path":"/srv/other/b","content":"x"}`), "call-3": script.Native("write",
			`{"path":"/srv/other/c","content":"x"}`),
	}))
	s.Ask("one", "call-1", false)
	s.Ask("two", "call-2", false)
	b := open(t, s)
	b.signIn("Ann", stage.Approver)
	b.to("/console/approvals")
	if !eval[bool](b, `(() => { const at = (e) => document.querySelector(e).getBoundingClientRect(); return at("mark").bottom <= at("pre.command").bottom && document.querySelector("mark .beyond").title === "\u0430 U+0430" })()`) {
		t.Error("what made the rules ask is out of sight, or a letter of another script does not stand out")
	}
	b.do(chromedp.SendKeys("article:nth-of-type(2) input", "use /tmp"),
		chromedp.Focus("article:nth-of-type(2) .deny"))
	const places = `[...document.querySelectorAll("article")].slice(0, 2).map((a) => a.id + " " + a.querySelector(".allow").getBoundingClientRect().top).join()`
	before := eval[string](b, places)
	eval[int](b, `fetch("/console/approvals/" + document.querySelector("article").id, {method: "POST", body: new URLSearchParams({answer: "deny"}), redirect: "manual"}).then(() => 1)`)
	b.soon(`document.querySelector("article").inert`)
	s.Ask("three", "call-3", false)
	b.soon(`document.querySelectorAll("article:not([inert])").length === 2`)
	if after := eval[string](b, places); after != before {
		t.Errorf("cards were at %s, and are at %s", before, after)
	}
	if got := eval[string](b,
		`document.querySelector("article:nth-of-type(2) input").value + ", " + document.activeElement.textContent`); got != "use /tmp, Deny" {
		t.Errorf("the reason and the focus are %q", got)
	}
	b.clean("cards")
	ruletest.Edit(t, s.Rules, "aliases.yaml", "version: 1", "version: 1 # edited")
	b.soon(`document.querySelectorAll("article:not([inert]) .allow:disabled").length === 2`)
}

// Who is signed out elsewhere is led to the sign-in, and back.
func TestSignedOutElsewhere(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens, stage.Model(replies()))
	b := open(t, s)
	b.signIn("Ann", stage.Reader)
	b.to("/console/?q=june")
	eval[int](b, `fetch("/console/sign-out", {method: "POST", redirect: "manual"}).then(() => 1)`)
	b.at("Sign in")
	b.do(chromedp.SendKeys("#name", "Ann"), chromedp.SendKeys("#token", stage.Reader+"\r"))
	b.at("Live")
	b.soon(`location.search === "?q=june"`)
}

// A page for which there is no room says so, and goes on when there is.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, nil, stage.Model(replies()))
	var others []*http.Response
	for range 32 {
		res, err := (&http.Client{Transport: s.HTTP.Transport}).Get(s.Console + "/console/events")
		ruletest.Must(t, err)
		others = append(others, res)
	}
	b := open(t, s)
	b.to("/console/")
	b.soon(`document.querySelector("[data-lost]").checkVisibility() && document.querySelector("[data-lost]").textContent.startsWith("Too many pages")`)
	for _, res := range others {
		res.Body.Close()
	}
	s.Ask("may", "greet", false)
	b.soon(`document.querySelector("[data-lost]").hidden && document.querySelectorAll("[data-turns] tr").length === 1`)
}

// Who has asked for it is told by the browser of a new question, while they look elsewhere, and of no
// other change.
func TestNotified(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens, stage.Model(replies()))
	b := open(t, s)
	const asks = `window.told = [];
window.Notification = class { static permission = 'default'; static async requestPermission() { this.permission = 'granted'; } constructor(title, { body }) { window.told.push(title + ', ' + body); } };
Object.defineProperty(document, 'hidden', { get: () => window.away === true });`
	_, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: asks})
	ruletest.Must(t, err)
	b.signIn("Ann", stage.Approver)
	b.to("/console/approvals")
	b.do(chromedp.Click("[data-notify]"))
	b.soon(`document.querySelector("[data-notify]").textContent === "You are notified"`)
	eval[bool](b, `(window.away = true, document.dispatchEvent(new Event('visibilitychange')))`)
	s.Ask("may", "greet", false)
	s.Ask("may", "note", false)
	b.soon(`window.told.length > 0`)
	if told := eval[[]string](b, "window.told"); len(told) != 1 ||
		told[0] != "A call waits for a person, 1 in all" {
		t.Errorf("told is %q", told)
	}
}

// The list can be held still, and goes on with what came meanwhile.
func TestHold(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, nil, stage.Model(replies()))
	b := open(t, s)
	b.to("/console/")
	b.keys("h")
	b.soon(`document.querySelector("[data-hold]").getAttribute("aria-pressed") === "true"`)
	eval[bool](b, `(document.addEventListener('console:turns', () => { document.body.dataset.heard = Number(document.body.dataset.heard ?? 0) + 1; }), true)`)
	for i := range 55 { // each is told of by itself
		s.Ask("may", "greet", false)
		b.soon(fmt.Sprintf(`Number(document.body.dataset.heard ?? 0) > %d`, i))
	}
	if n := eval[int](b, `document.querySelectorAll("[data-turns] tr").length`); n != 0 {
		t.Errorf("%d rows while it is held still", n)
	}
	b.keys("h")
	b.soon(`document.querySelectorAll("[data-turns] tr").length === 55 && document.querySelector("[data-all]").textContent === "55"`)
}

// Whatever a model or a caller writes, no script of it runs, and the page says nothing of an error.
func TestScripts(t *testing.T) {
	t.Parallel()
	const evil = `"><script>document.title='owned'</script><img src=x onerror="document.title='owned'"><svg onload="document.title='owned'">`
	args, err := json.Marshal(map[string]string{"path": "/srv/other/" + evil, "content": evil})
	ruletest.Must(t, err)
	s := stage.Open(t, stage.Tokens, stage.Model(map[string]script.Reply{
		"text": script.Text(evil).Thinking(evil), "call": script.Native("write", string(args)),
		"leaked": script.LeakedTurn(evil, string(args)),
		"name":   script.Native(evil, string(args)), "error": script.Fail(http.StatusInternalServerError,
			evil),
	}))
	b := open(t, s)
	b.signIn(evil, stage.Approver)
	for i, user := range []string{"text", "call", "leaked", "name", "error"} {
		s.Ask(evil, user, true)
		b.soon(fmt.Sprintf(`document.querySelector("[data-turns] tr:first-child")?.dataset.outcome !== "running" && document.querySelectorAll("[data-turns] tr").length > %d`, i))
		b.do(chromedp.Click("[data-turns] tr:first-child a"))
		b.at("Turn")
		b.clean(user)
		if eval[bool](b, `document.querySelector("[data-try]") !== null`) {
			b.do(chromedp.Click("[data-try]"))
			b.at("Playground")
			b.clean("playground of " + user)
			b.do(chromedp.SendKeys("#text", evil), chromedp.SendKeys("#draft", evil))
			b.soon(`document.querySelector("#problems li.bad") !== null`)
			b.clean("draft of " + user)
			eval[bool](b, `document.querySelector("#drop button").click() ?? true`) // it is drawn anew meanwhile
			b.soon(`document.querySelector("#drop button") === null`)
		}
		b.to("/console/")
		b.clean("list")
	}
	b.to("/console/approvals")
	b.clean("approvals")
}

func (b *tab) clean(where string) {
	b.t.Helper()
	if n := eval[int](b, `document.querySelectorAll("main script:not([src]), main img, main svg, [onerror], [onload]").length`); n > 0 || strings.Contains(eval[string](b, "document.title"), "owned") {
		b.t.Errorf("%s: markup of the model is in the page", where)
	}
}

// Another site can neither frame the console nor send its forms nor read its events, though its
// reader is signed in.
func TestOtherSite(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, stage.Tokens, stage.Model(replies()))
	s.Ask("may", "note", false)
	b := open(t, s)
	b.strange = true
	b.signIn("Ann", stage.Approver)
	b.to("/console/approvals")
	action := eval[string](b, `document.querySelector("form.answer").action`)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><main><iframe src="` + s.Console + `/console/approvals"></iframe>
<form method="post" action="` + action + `"><input name="answer" value="allow"></form></main>`))
	}))
	t.Cleanup(evil.Close)
	at := strings.Replace(evil.URL, "127.0.0.1", "evil.example", 1)
	b.do(chromedp.Navigate(at), chromedp.WaitReady("form"))
	if seen := eval[bool](b,
		`(() => { try { return document.querySelector("iframe").contentDocument.body.innerText.length > 0 } catch { return false } })()`); seen {
		t.Error("the frame can be read")
	}
	if got := eval[string](b,
		`fetch("`+s.Console+`/console/events?turns=1", {credentials: "include"}).then(() => "read", () => "refused")`); got == "read" {
		t.Error("the events can be read")
	}
	b.do(chromedp.Submit("form"))
	b.soon(`location.origin === "` + s.Console + `"`)
	if n := s.Log.Count("approval_allowed"); n > 0 {
		t.Error("a form of another site has allowed a call")
	}
	b.do(chromedp.Navigate(strings.Replace(s.Console, "127.0.0.1", "evil.example", 1)+"/console/"),
		chromedp.WaitReady("main"))
	if text := eval[string](b, "document.body.innerText"); !strings.Contains(text,
		"This address is not served") {
		t.Errorf("under another name the console says %s", text)
	}
}

// Where no turn is kept in words, and where no token is asked for, the pages say so.
func TestPlainly(t *testing.T) {
	t.Parallel()
	s := stage.Open(t, func(s *config.Settings) { config.Of[console.Settings](s).Console = "no-text" },
		stage.Model(replies()))
	s.Ask("may", "greet", false)
	b := open(t, s)
	b.to("/")
	for _, want := range []string{"No words of replies are kept",
		"no token: programs may change rules"} {
		if text := eval[string](b, "document.body.innerText"); !strings.Contains(text, want) {
			t.Errorf("it does not say %s: %s", want, text)
		}
	}
}
