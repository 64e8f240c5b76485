package confine

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/policy"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// refusal is why a connection is not made, for the program and for the model that reads its output.
type refusal struct {
	status       int
	server       string // HOST:PORT; may be empty
	address      string // that decided
	why, instead string
	rule, place  string
	effect       policy.Effect // of the rule
}

// Error returns a sentence or two on one line.
func (r *refusal) Error() string {
	var b strings.Builder
	if r.server != "" {
		b.WriteString(r.server)
		if r.address != "" {
			fmt.Fprintf(&b, " (%s)", r.address)
		}
		b.WriteString(" is refused: ")
	}
	b.WriteString(strings.TrimSuffix(strings.TrimSpace(r.why), ".") + ".")
	if r.instead != "" {
		b.WriteString(" Instead: " + strings.TrimSuffix(strings.TrimSpace(r.instead), ".") + ".")
	}
	if r.rule != "" {
		b.WriteString(" (rule " + r.rule + ")")
	}
	return b.String()
}

// denied returns the refusal of a rule.
func denied(d policy.Decision) *refusal {
	r := &refusal{status: http.StatusForbidden, why: d.Why, instead: d.Instead, rule: d.Rule, place: d.Place,
		effect: d.Effect}
	if d.Rule == "" {
		r.why, r.rule = "no rule allows it", "default"
	}
	return r
}

// needsPerson refuses what a rule asks about: no person can be asked while a command runs.
func needsPerson(d policy.Decision) *refusal {
	r := denied(d)
	r.why = strings.TrimSuffix(r.why, ".") +
		", so a person must be asked, and a running command cannot wait for that"
	r.instead = "make a call of its own with the URL written out"
	return r
}

// unknownHost refuses a host that the pass does not have.
func unknownHost() *refusal {
	return &refusal{status: http.StatusForbidden,
		why:     "the command does not name this host, and known_hosts in urls.yaml does not have it",
		rule:    "known_hosts",
		instead: "name the host in the command, or ask the user to add it to known_hosts"}
}

// refusalOf returns the refusal for an error on the way to a server.
func refusalOf(err error, u urls.Use) *refusal {
	r := &refusal{status: http.StatusBadGateway, why: "there is no connection to it"}
	var refused *Refused
	var own *refusal
	if errors.As(err, &refused) {
		r = &refusal{status: http.StatusForbidden, why: refused.Err.Error()}
	}
	if errors.As(err, &own) {
		copied := *own
		r = &copied
	}
	if refused != nil {
		r.address = refused.Use.Address
	}
	switch {
	case u.Class == urls.Malformed && len(u.URL) > maxServer:
		r.server = "this server"
	case u.Class == urls.Malformed || u.Host == "":
		r.server = fmt.Sprintf("%q", u.URL)
	default:
		r.server = u.HostPort()
	}
	return r
}

// An answer to a program that still sends is followed by reading, or the program sees a broken
// connection instead.
const (
	lingerTime = time.Second
	maxLinger  = 256 << 10
)

// write answers with the sentence in the body and in the status line: most programs print only the
// latter of a CONNECT.
func (r *refusal) write(w http.ResponseWriter, in *http.Request) {
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil { // the connection is gone
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(lingerTime))
	sentence := r.Error() + "\n"
	body := sentence
	if in.Method == http.MethodHead {
		body = ""
	}
	fmt.Fprintf(buf, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		r.status, oneLine(sentence), len(sentence), body)
	if buf.Flush() != nil || closeWrite(conn) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, buf, maxLinger)
}

// maxStatus is the length of a status line that every program reads.
const maxStatus = 400

// oneLine makes a text safe for a status line.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f:
			return ' '
		case r > 0x7f:
			return '?'
		}
		return r
	}, strings.TrimSpace(s))
	return s[:min(len(s), maxStatus)]
}
