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

// ticketAuth lets requests in that show a ticket.
type ticketAuth struct {
	ProxyConfig
	books *ledger
}

func (d *ticketAuth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ticket, pass, found := d.pass(r)
	if !found { // git asks without credentials first
		w.Header().Set("Proxy-Authenticate", `Basic realm="confined commands"`)
		http.Error(w, "This proxy is for commands that the guard confines, with the credentials that it gives them.", http.StatusProxyAuthRequired)
		return
	}
	set := d.Rules.Set()
	account, err := d.books.enter(ticket, pass, limitsOf(set).Open)
	if err != nil {
		(&refusal{status: http.StatusServiceUnavailable, why: err.Error()}).write(w, r)
		return
	}
	defer account.leave()
	ctx, cancel := context.WithTimeout(r.Context(), limitsOf(set).Total)
	defer cancel()
	defer context.AfterFunc(account.ctx, cancel)()
	v := &visit{ProxyConfig: d.ProxyConfig, set: set, pass: pass, account: account}
	remote, path, query := v.remote(r)
	switch {
	case remote != nil:
		v.fetch(ctx, w, r, remote, path, query)
		return
	case r.URL.Path == walls.SSHPath && r.URL.Host == "":
		v.ssh(ctx, w, r)
		return
	case r.Method == http.MethodConnect:
		v.use = urls.Tunnel(r.RequestURI)
	case r.URL.Host != "" || r.URL.Scheme != "":
		v.use = urls.Literal(r.RequestURI, r.Method)
	default:
		d.explain(w, r, ticket, account)
		return
	}
	server, tally, err := v.reach(ctx, r)
	switch {
	case err != nil:
		refusalOf(err, v.use).write(w, r)
	case r.Method == http.MethodConnect:
		v.tunnel(ctx, w, r, server, tally)
	default:
		v.forward(ctx, w, r, server, tally)
	}
}

// pass finds the pass that a request shows. Neither the ticket nor the secret can be found
// out by the time that this takes.
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

// explain answers a request for the proxy itself with what was refused to the command: curl
// and git do not print it. DELETE says that the command has ended.
func (d *ticketAuth) explain(w http.ResponseWriter, r *http.Request, ticket string, a *account) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, sentence := range a.refusals() {
		_, _ = w.Write([]byte(sentence + "\n"))
	}
	if r.Method == http.MethodDelete {
		d.Passes.End(ticket)
	}
}

// reach is the server that a visit may go to, and where it is counted.
func (v *visit) reach(ctx context.Context, r *http.Request) (Server, *tally, error) {
	err := v.sends(r)
	var server Server
	if err == nil {
		server, err = Dialer{Judge: v.judge, Resolver: v.Resolver, Connect: v.Connect}.Pin(ctx, v.use)
	}
	tally, err := v.note(r.Method, server.Use, err)
	return server, tally, err
}
