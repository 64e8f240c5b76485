package confine

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/confine/walls"
)

// ticketAuth serves requests that show a ticket.
type ticketAuth struct {
	ProxyConfig
	accounts *accounts
}

func (d *ticketAuth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ticket, pass, found := d.pass(r)
	if !found { // git asks without credentials first
		w.Header().Set("Proxy-Authenticate", `Basic realm="confined commands"`)
		http.Error(w, "This proxy is for commands that the guard confines, with the credentials that it gives them.", http.StatusProxyAuthRequired)
		return
	}
	set := d.Rules.Set()
	account, err := d.accounts.enter(ticket, pass, limitsOf(set).Open)
	if err != nil {
		(&refusal{status: http.StatusServiceUnavailable, why: err.Error()}).write(w, r)
		return
	}
	defer account.leave()
	ctx, cancel := context.WithTimeout(r.Context(), limitsOf(set).Total)
	defer cancel()
	defer context.AfterFunc(account.ctx, cancel)()
	v := &proxyRequest{ProxyConfig: d.ProxyConfig, set: set, pass: pass, account: account}
	remote, path, query := v.findRemote(r)
	switch {
	case remote != nil:
		v.serveGit(ctx, w, r, remote, path, query)
		return
	case r.URL.Path == walls.SSHPath && r.URL.Host == "":
		v.serveSSH(ctx, w, r)
		return
	case r.Method == http.MethodConnect:
		v.use = urls.Tunnel(r.RequestURI)
	case r.URL.Host != "" || r.URL.Scheme != "":
		v.use = urls.Literal(r.RequestURI, r.Method)
	default:
		d.explain(w, r, ticket, account)
		return
	}
	server, tally, err := v.pin(ctx, r)
	switch {
	case err != nil:
		refusalOf(err, v.use).write(w, r)
	case r.Method == http.MethodConnect:
		v.tunnel(ctx, w, r, server, tally)
	default:
		v.forward(ctx, w, r, server, tally)
	}
}

// pass returns the pass of a request. Its timing reveals neither the ticket nor the secret.
func (d *ticketAuth) pass(r *http.Request) (ticket string, p Pass, ok bool) {
	given := r.Header.Values("Proxy-Authorization")
	if len(given) != 1 {
		return "", Pass{}, false
	}
	scheme, text, _ := strings.Cut(given[0], " ")
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || !strings.EqualFold(scheme, "Basic") {
		return "", Pass{}, false
	}
	ticket, secret, _ := strings.Cut(string(plain), ":")
	p, found := d.Passes.Pass(ticket)
	is, want := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(p.Secret))
	same := subtle.ConstantTimeCompare(is[:], want[:]) == 1
	return ticket, p, found && same && p.Secret != ""
}

// explain answers a request to the proxy itself with what was refused to the command: curl and git do
// not print it. DELETE says that the command has ended.
func (d *ticketAuth) explain(w http.ResponseWriter, r *http.Request, ticket string, a *account) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, sentence := range a.refusals() {
		_, _ = w.Write([]byte(sentence + "\n"))
	}
	if r.Method == http.MethodDelete {
		d.Passes.End(ticket)
	}
}

// pin returns the server that a request may reach, and its counter.
func (v *proxyRequest) pin(ctx context.Context, r *http.Request) (Server, *traffic, error) {
	err := v.checkSending(r)
	var server Server
	if err == nil {
		server, err = Dialer{Judge: v.judge, Resolver: v.Resolver, Connect: v.Connect}.Pin(ctx, v.use)
	}
	tally, err := v.record(r.Method, server.Use, err)
	return server, tally, err
}
