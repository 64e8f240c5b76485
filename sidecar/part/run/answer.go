package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// meaning is what an answer says of a call.
type meaning int

const (
	done         meaning = iota
	failedAnswer         // it was refused, or did not do what it was for
	broke                // the tool failed, maybe half done
	absent               // there is no such tool for this session
	refused              // the token is wrong
	busy                 // it was not taken, and may be later
	away                 // the gateway cannot be reached: it was not taken
	lost                 // the gateway has it, and there is no answer
	stranger             // who answers is no gateway
)

// answer is what became of a call.
type answer struct {
	means  meaning
	text   string // for the model
	detail string // for the operator, where it says more
	after  int    // seconds to wait, where busy
	ended  bool   // the caller did not wait for more
	unsent bool   // the gateway was not asked
}

// result is an answer in words for the model. A changing call with an unknown outcome is
// in doubt.
func (a *answer) result(tool string, changes bool) tools.Result {
	r := tools.Result{Text: a.text, Failed: a.means != done, After: a.after}
	switch a.means {
	case done, failedAnswer:
	case broke:
		r.Doubt = changes
	case lost:
		r.Doubt, r.Transient = changes, !changes && !a.ended
	case busy:
		r.Transient = true
	case away:
		r.Transient = !a.ended
		r.Text = "the gateway cannot be reached, so this call did not run."
	case absent:
		r.Text = "the gateway has no tool " + tool +
			" for this conversation. Do it another way, or tell the user."
	case refused:
		r.Text = "the gateway does not let this program use its tools, because its token is wrong. Only the operator can change that. Tell the user."
	case stranger:
		r.Text = "what answers at the address of the gateway is no gateway, so this call did not run. Only the operator can change that. Tell the user."
	}
	return r
}

// wire is the body of an answer. Of a key that stands twice the last one counts, as it does
// for the gateway.
type wire struct {
	OK     *bool           `json:"ok"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// fault is why the gateway has no result.
type fault struct {
	Type             string `json:"type"`
	Message          string `json:"message"`
	RequiresApproval bool   `json:"requiresApproval"`
}

// readAnswer says what an answer means.
func readAnswer(status int, header http.Header, body []byte, now time.Time) answer {
	if len(body) > maxAnswer {
		return answer{means: broke,
			text: fmt.Sprintf("the answer of the gateway is longer than %d MiB, and was not read. Ask for less.", maxAnswer>>20)}
	}
	var doc wire
	var why fault
	isGateway := json.Unmarshal(body, &doc) == nil && json.Unmarshal(orNull(doc.Error), &why) == nil &&
		(doc.OK != nil || why.Type != "")
	said := strings.TrimSpace(why.Message)
	switch status {
	case http.StatusUnauthorized:
		return answer{means: refused, detail: "the gateway does not accept the token: set gateway_token"}
	case http.StatusTooManyRequests:
		return answer{means: busy, text: "the gateway takes no calls for a while, so this call did not run.",
			after:  max(1, seconds(header, now)),
			detail: "the gateway answers 429: " + cmp.Or(said, "too many requests, or too many with a wrong token")}
	case http.StatusRequestEntityTooLarge:
		return answer{means: failedAnswer,
			text: "the arguments are too long for the gateway, so this call did not run. Send less."}
	}
	switch {
	case isGateway && (status == http.StatusRequestTimeout || status == http.StatusServiceUnavailable):
		return answer{means: busy, text: "the gateway is too busy, so this call did not run.",
			after: seconds(header, now)}
	case status >= 500 && why.Type == "tool_error":
		return answer{means: broke, text: "the tool failed. The gateway does not say why; its log does."}
	// of a proxy, too, which may have sent the call on
	case status >= 500, status == http.StatusRequestTimeout:
		return answer{means: lost, text: fmt.Sprintf("the gateway failed with status %d.", status),
			detail: fmt.Sprintf("status %d", status)}
	case !isGateway:
		return answer{means: stranger,
			detail: fmt.Sprintf("status %d, %s: is this the address of the gateway?", status,
				kind(header, body))}
	case status == http.StatusNotFound && why.Type == "not_found":
		return answer{means: absent}
	case status == http.StatusForbidden && why.RequiresApproval:
		return answer{means: failedAnswer, text: "the gateway blocked this call: " + said +
			" A person would have to approve it there, and cannot from here. Do it another way, or tell the user."}
	case status == http.StatusForbidden:
		return answer{means: failedAnswer, text: "the gateway blocked this call: " + said +
			" Do not send it again. Do it another way, or tell the user."}
	case status != http.StatusOK || doc.OK == nil || !*doc.OK:
		if said == "" {
			said = fmt.Sprintf("the gateway refused this call with status %d", status)
		}
		return answer{means: failedAnswer, text: said}
	}
	text, soft := unwrap(doc.Result)
	if soft {
		return answer{means: failedAnswer, text: text}
	}
	return answer{text: text}
}

// orNull is a value of a document that may lack it.
func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// kind says for the operator what a body is.
func kind(header http.Header, body []byte) string {
	if bytes.HasPrefix(bytes.TrimSpace(bytes.ToLower(body[:min(len(body), 64)])), []byte("<")) {
		return "a web page"
	}
	media, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return fmt.Sprintf("%d bytes of %q", len(body), media)
}

// seconds is what Retry-After says: seconds, or a date. 0: it does not say.
func seconds(header http.Header, now time.Time) int {
	text := header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil {
		return min(max(n, 0), 86400)
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return int(min(at.Sub(now), 24*time.Hour)/time.Second) + 1
	}
	return 0
}
