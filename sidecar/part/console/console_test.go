package console_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/stage"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// visitor is a browser without a screen: it keeps cookies, and sends what browsers send.
type visitor struct {
	t      testing.TB
	s      *stage.Server
	cookie string
}

// page is what a visitor got.
type page struct {
	*http.Response
	text string
}

func (v *visitor) do(method, path, form string, header ...string) page {
	v.t.Helper()
	req, err := http.NewRequest(method, v.s.Console+path, strings.NewReader(form))
	ruletest.Must(v.t, err)
	req.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", v.s.Console)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if v.cookie != "" {
		req.Header.Set("Cookie", v.cookie)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		} else if req.Header.Del(header[i]); header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	client := *v.s.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	ruletest.Must(v.t, err)
	defer res.Body.Close()
	doc, err := io.ReadAll(res.Body)
	ruletest.Must(v.t, err)
	return page{res, string(doc)}
}

func (v *visitor) get(path string, header ...string) page {
	v.t.Helper()
	return v.do(http.MethodGet, path, "", header...)
}

// signIn signs in, and keeps the cookie.
func (v *visitor) signIn(name, token string) page {
	v.t.Helper()
	p := v.do(http.MethodPost, "/console/sign-in", url.Values{"name": {name}, "token": {token},
		"next": {"/console/"}}.Encode())
	for _, c := range p.Cookies() {
		v.cookie = c.Name + "=" + c.Value
	}
	return p
}

func open(t testing.TB, change func(*config.Settings), replies map[string]script.Reply) *visitor {
	t.Helper()
	return &visitor{t: t, s: stage.Open(t, change, stage.Model(replies))}
}

// A turn that was served is in the list, and its page says how it was read.
func TestTurn(t *testing.T) {
	v := open(t, nil, map[string]script.Reply{"list": script.LeakedTurn("exec", `{"cmd":"ls -l reports",}`)})
	v.s.Ask("morning", "list", true)
	home := v.get("/")
	if home.StatusCode != http.StatusSeeOther || home.Header.Get("Location") != "/console/" {
		t.Fatalf("/ answers %s %s", home.Status, home.Header.Get("Location"))
	}
	list := v.get("/console/").text
	_, rest, _ := strings.Cut(list, `data-turns`)
	rest, _, _ = strings.Cut(rest, "</tbody>")
	for _, want := range []string{"morning", "gpt-oss", "exec", "harmony", "repaired", "1 sent on"} {
		if !strings.Contains(rest, want) {
			t.Errorf("the list does not say %s:\n%s", want, rest)
		}
	}
	_, href, _ := strings.Cut(rest, `href="`)
	href, _, _ = strings.Cut(href, `"`)
	turn := v.get(href).text
	for _, want := range []string{
		`<span class="as as-thought" title="thought">A tool can tell me.</span>`, `class="as as-call"`,
		`class="as as-repaired"`, `&lt;|channel|&gt;`,
		"name.clean", "functions.exec", "strategies.yaml:", "runs ls -l reports", "everyday", "rules",
	} {
		if !strings.Contains(turn, want) {
			t.Errorf("the turn does not say %s:\n%s", want, turn)
		}
	}
}
