package run

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// answerKind classifies what a gateway says of a call.
type answerKind int

const (
	succeeded   answerKind = iota // succeeded
	callFailed                    // the call was refused, or failed
	toolFailed                    // the tool failed, maybe half done
	noSuchTool                    // the session has no such tool
	badToken                      // the token is wrong
	gatewayBusy                   // not accepted now, maybe later
	unreachable                   // the gateway cannot be reached: the call was not accepted
	unanswered                    // the gateway has the call and did not answer
	notGateway                    // the server is not a gateway
)

// answer is a gateway's answer to one call.
type answer struct {
	kind     answerKind
	text     string // for the model
	detail   string // for the operator; may be empty
	after    int    // seconds until a retry, if busy
	canceled bool   // the caller stopped waiting
	unsent   bool   // nothing was sent to the gateway
}

// result puts the answer into words for the model. A changing call with an unknown outcome is in
// doubt.
func (a *answer) result(tool string, changes bool) tools.Result {
	r := tools.Result{Text: a.text, Failed: a.kind != succeeded, After: a.after}
	switch a.kind {
	case succeeded, callFailed:
	case toolFailed:
		r.Doubt = changes
	case unanswered:
		r.Doubt, r.Transient = changes, !changes && !a.canceled
	case gatewayBusy:
		r.Transient = true
	case unreachable:
		r.Transient = !a.canceled
		r.Text = "the gateway cannot be reached, so this call did not run."
	case noSuchTool:
		r.Text = "the gateway has no tool " + tool +
			" for this conversation. Do it another way, or tell the user."
	case badToken:
		r.Text = "the gateway does not let this program use its tools, because its token is wrong. Only the operator can change that. Tell the user."
	case notGateway:
		r.Text = "what answers at the address of the gateway is no gateway, so this call did not run. Only the operator can change that. Tell the user."
	}
	return r
}

type gatewayReply struct {
	OK     *bool           `json:"ok"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// gatewayError says why the gateway has no result.
type gatewayError struct {
	Type             string `json:"type"`
	Message          string `json:"message"`
	RequiresApproval bool   `json:"requiresApproval"`
}

// readAnswer classifies an HTTP answer.
func readAnswer(status int, header http.Header, body []byte, now time.Time) answer {
	if len(body) > maxAnswer {
		return answer{kind: toolFailed,
			text: fmt.Sprintf("the answer of the gateway is longer than %d MiB, and was not read. Ask for less.", maxAnswer>>20)}
	}
	var doc gatewayReply
	var why gatewayError
	isGateway := json.Unmarshal(body, &doc) == nil && json.Unmarshal(orNull(doc.Error), &why) == nil &&
		(doc.OK != nil || why.Type != "")
	message := strings.TrimSpace(why.Message)
	switch status {
	case http.StatusUnauthorized:
		return answer{kind: badToken, detail: "the gateway does not accept the token: set gateway_token"}
	case http.StatusTooManyRequests:
		return answer{kind: gatewayBusy, text: "the gateway takes no calls for a while, so this call did not run.",
			after:  max(1, retryAfter(header, now)),
			detail: "the gateway answers 429: " + cmp.Or(message, "too many requests, or too many with a wrong token")}
	case http.StatusRequestEntityTooLarge:
		return answer{kind: callFailed,
			text: "the arguments are too long for the gateway, so this call did not run. Send less."}
	}
	switch {
	case isGateway && (status == http.StatusRequestTimeout || status == http.StatusServiceUnavailable):
		return answer{kind: gatewayBusy, text: "the gateway is too busy, so this call did not run.",
			after: retryAfter(header, now)}
	case status >= 500 && why.Type == "tool_error":
		return answer{kind: toolFailed, text: "the tool failed. The gateway does not say why; its log does."}
	// of a proxy, too, which may have sent the call on
	case status >= 500, status == http.StatusRequestTimeout:
		return answer{kind: unanswered, text: fmt.Sprintf("the gateway failed with status %d.", status),
			detail: fmt.Sprintf("status %d", status)}
	case !isGateway:
		return answer{kind: notGateway,
			detail: fmt.Sprintf("status %d, %s: is this the address of the gateway?", status,
				describeBody(header, body))}
	case status == http.StatusNotFound && why.Type == "not_found":
		return answer{kind: noSuchTool}
	case status == http.StatusForbidden && why.RequiresApproval:
		return answer{kind: callFailed, text: "the gateway blocked this call: " + message +
			" A person would have to approve it there, and cannot from here. Do it another way, or tell the user."}
	case status == http.StatusForbidden:
		return answer{kind: callFailed, text: "the gateway blocked this call: " + message +
			" Do not send it again. Do it another way, or tell the user."}
	case status != http.StatusOK || doc.OK == nil || !*doc.OK:
		if message == "" {
			message = fmt.Sprintf("the gateway refused this call with status %d", status)
		}
		return answer{kind: callFailed, text: message}
	}
	text, soft := toolText(doc.Result)
	if soft {
		return answer{kind: callFailed, text: text}
	}
	return answer{text: text}
}

// orNull returns v, or null if it is nil.
func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// describeBody describes an unexpected body for the operator.
func describeBody(header http.Header, body []byte) string {
	if bytes.HasPrefix(bytes.TrimSpace(bytes.ToLower(body[:min(len(body), 64)])), []byte("<")) {
		return "a web page"
	}
	media, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return fmt.Sprintf("%d bytes of %q", len(body), media)
}

// retryAfter returns the seconds of Retry-After, which may be a number or a date; 0 if there are none.
func retryAfter(header http.Header, now time.Time) int {
	text := header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil {
		return min(max(n, 0), 86400)
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return int(min(at.Sub(now), 24*time.Hour)/time.Second) + 1
	}
	return 0
}

// toolContent is the result of a gateway's tool.
type toolContent struct {
	Content []contentPart   `json:"content"`
	Details json.RawMessage `json:"details"`
	IsError bool            `json:"isError"`
}

type contentPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
	URI      string `json:"uri"`
	Resource struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"resource"`
}

// failureStatuses are the statuses with which a tool reports a failure inside a successful answer.
var failureStatuses = []string{"error", "failed", "not_found", "forbidden", "denied", "blocked",
	"unavailable", "timeout", "invalid"}

// toolText returns the text of a result and whether the tool says that it failed. Parts that are not
// text are named. A result in an unknown form is shown as it is.
func toolText(result json.RawMessage) (text string, soft bool) {
	var doc toolContent
	if json.Unmarshal(result, &doc) != nil || doc.Content == nil && doc.Details == nil {
		var plain string
		if json.Unmarshal(result, &plain) == nil {
			return plain, false
		}
		return compactJSON(result), false
	}
	parts := make([]string, len(doc.Content))
	for i := range doc.Content {
		parts[i] = doc.Content[i].shown()
	}
	var details struct {
		Status  any `json:"status"`
		Error   any `json:"error"`
		Message any `json:"message"`
	}
	_ = json.Unmarshal(orNull(doc.Details), &details) // of another form: it says nothing of these
	status, _ := details.Status.(string)
	why, _ := details.Error.(string)
	soft = doc.IsError || slices.Contains(failureStatuses, strings.ToLower(status)) || why != ""
	if text = strings.Join(parts, "\n"); text == "" && doc.Details != nil {
		text = compactJSON(doc.Details)
	}
	return text, soft
}

// shown returns a part as the model reads it.
func (p *contentPart) shown() string {
	switch {
	case p.Type == "text":
		return p.Text
	case p.Resource.Text != "":
		return p.Resource.Text
	case p.Data != "":
		return fmt.Sprintf("[%s %s of %d bytes, which is not shown]", p.Type, p.MimeType,
			base64.StdEncoding.DecodedLen(len(p.Data)))
	}
	return strings.TrimSpace(fmt.Sprintf("[%s, which is not shown] %s", cmp.Or(p.Type, "part"),
		cmp.Or(p.URI, p.Resource.URI)))
}

// compactJSON returns a JSON value on one line.
func compactJSON(v json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil || b.String() == "null" {
		return ""
	}
	return b.String()
}
