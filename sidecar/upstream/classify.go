package upstream

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// Answer is an error as an upstream sent it.
type Answer struct {
	Status int         // 0: an error inside a 200 stream; its own code counts, else 500
	Header http.Header // may be nil
	Body   []byte
	Window int // the context in tokens, where it is known; 0: unknown
}

// Classify says what kind of error an answer is, and what the caller is told. It
// knows the shapes of all servers; the texts it looks for are those of srv.
func Classify(set *ruleset.Set, srv *ruleset.Server, a Answer) *Failure {
	fault := readFault(a.Body)
	if a.Status == 0 {
		a.Status = http.StatusInternalServerError
		if code, err := strconv.Atoi(fault.Code); err == nil && code >= 400 && code < 600 {
			a.Status = code
		}
	}
	log := fmt.Sprintf("upstream HTTP %d: %s", a.Status, cut(fault.Message, 2000))
	why := sentence(shown(fault.Message), a.Status)
	f := failure(set, faultOf(srv, a.Status, fault), why, log)
	switch f.Fault {
	case ruleset.Overflow:
		n := overflowNumbers(srv, a, fault)
		f = failure(set, ruleset.Overflow, n.sentence(shown(fault.Message)), log)
		f.fits = n.fits
	case ruleset.Missing:
		if !strings.Contains(strings.ToLower(fault.Message), "model") {
			f = failure(set, ruleset.ServerError, why, log+" (is the upstream URL right?)")
		}
	}
	if d, ok := retryAfter(a.Header); ok && d > 0 { // else what the rules say: at once is now
		f.Say.RetryAfter = d
	}
	f.NoTools = match(srv.NoTools, fault.Message) != nil
	f.hint(srv, fault.Message)
	return f
}

// faultOf looks at the text first: servers send the same trouble with 400, 500
// and 200.
func faultOf(srv *ruleset.Server, status int, fault openai.Fault) ruleset.Fault {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return ruleset.Auth
	case http.StatusTooManyRequests:
		return ruleset.RateLimited
	}
	switch {
	case fault.Code == "context_length_exceeded", fault.Type == "exceed_context_size_error",
		match(srv.Overflow, fault.Message) != nil, match(srv.OutputTooLarge, fault.Message) != nil:
		return ruleset.Overflow
	case match(srv.BadRequest, fault.Message) != nil:
		return ruleset.Rejected
	case match(srv.Retry, fault.Message) != nil:
		return ruleset.HarmonyError
	case status == http.StatusNotFound:
		return ruleset.Missing
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return ruleset.Timeout
	case status >= 400 && status < 500:
		return ruleset.Rejected
	}
	return ruleset.ServerError
}

// sentence is what the upstream said, ready to stand before another sentence.
func sentence(said string, status int) string {
	if said == "" {
		return fmt.Sprintf("HTTP %d.", status)
	}
	if strings.HasSuffix(said, "…") || strings.ContainsAny(said[len(said)-1:], ".!?") {
		return said
	}
	return said + "."
}

// hint adds what an operator can do. An operator often reads it through the
// caller, so it stands in all texts; rules hold no secrets.
func (f *Failure) hint(srv *ruleset.Server, text string) {
	for _, h := range srv.Hints {
		if h.Match == nil || !h.Match.MatchString(text) {
			continue
		}
		f.Why += " " + h.Say
		f.Say.Log += " (" + h.Say + ")"
		f.Say.Message += " " + h.Say
		if h.Status != 0 {
			f.Say.Status = h.Status
		}
		return
	}
}

// match gives the submatches of the first pattern that fits, by name.
func match(patterns []ruleset.Pattern, text string) map[string]string {
	for _, p := range patterns {
		if groups := named(p.Match, text); groups != nil {
			return groups
		}
	}
	return nil
}

func named(re *regexp.Regexp, text string) map[string]string {
	found := re.FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	groups := make(map[string]string, len(found))
	for i, name := range re.SubexpNames() {
		if name != "" {
			groups[name] = found[i]
		}
	}
	return groups
}

// readFault finds the error in a body: JSON of any server's shape, an event of a
// stream, or plain text.
func readFault(body []byte) openai.Fault {
	text := strings.TrimSpace(string(body))
	if data, ok := strings.CutPrefix(text, "data:"); ok {
		text, _, _ = strings.Cut(data, "\n")
		text = strings.TrimSpace(text)
	}
	if f, ok := openai.ReadFault([]byte(text)); ok {
		return f
	}
	if doc := gjson.Parse(text); doc.Type == gjson.String && gjson.Valid(text) {
		return readFault([]byte(doc.String()))
	}
	if title := titleTag.FindStringSubmatch(text); title != nil {
		text = title[1] // a proxy's error page
	}
	return openai.Fault{Message: text}
}

var titleTag = regexp.MustCompile(`(?is)<title>\s*(.*?)\s*</title>`)
