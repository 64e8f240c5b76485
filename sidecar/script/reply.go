package script

import (
	"net/http"
	"time"
)

// Reply is the answer to one request. The zero Reply is empty: a well-formed stream without text.
type Reply struct {
	Reasoning string // sent first, in the reasoning field of the dialect
	Content   string
	Calls     []Call   // native tool_calls
	Deltas    []string // JSON of delta objects, sent unchanged after the above; streams only
	Prompt    int      // prompt_tokens of its usage; 0: a fourth of the bytes
	Finish    string   // "": tool_calls where there are Calls, else stop

	End End   // how it ends
	Err Error // with a Status: the HTTP answer; with End Fault: the error in the stream
	// the whole HTTP body, with status Err.Status (0: 200); a body that begins with < is HTML
	Body  string
	Retry string        // value of a Retry-After header
	Delay time.Duration // before the headers
	Until chan struct{} // closed before the headers are sent; nil: do not wait
	Pings int           // comments before the first chunk; streams only
	Pause time.Duration // before each of them, and before each chunk

	Whole   bool // one JSON body even if a stream was requested
	NoUsage bool // a stream without usage
}

// End is what follows the last chunk of a reply.
type End int

// The values of End. Without text and comments, Hang and Reset come before the headers.
const (
	Done End = iota // finish_reason, usage, [DONE]
	// nothing: neither finish_reason nor [DONE], as Ollama does after 31 equal tokens; a whole reply has no
	// finish_reason
	Short
	Unsaid  // [DONE] without a finish_reason
	Garbled // an event that is no JSON, then [DONE]
	// an error in a stream of status 200, in the dialect; without a stream, an HTTP error
	Fault
	Reset // the connection is cut
	Hang  // no data until the caller is gone
)

// Error is an error of a server; the dialect determines its JSON.
type Error struct {
	Status  int
	Type    string
	Message string
}

// Text is a reply with plain text.
func Text(text string) Reply { return Reply{Content: text} }

// Native is a call in the server's own tool_calls.
func Native(name, args string) Reply {
	return Reply{Calls: []Call{{ID: "chatcmpl-tool-7f3a", Name: name, Arguments: args}}}
}

// Fail is an HTTP error with a plain message.
func Fail(status int, message string) Reply {
	return Reply{Err: Error{Status: status, Type: errorType(status), Message: message}}
}

func errorType(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "AuthenticationError"
	case status == http.StatusNotFound:
		return "NotFoundError"
	case status < http.StatusInternalServerError:
		return "BadRequestError"
	}
	return "InternalServerError"
}

// Thinking returns the reply with this reasoning before it.
func (r Reply) Thinking(text string) Reply {
	r.Reasoning = text
	return r
}

// Ending returns the reply with another end.
func (r Reply) Ending(e End) Reply {
	r.End = e
	return r
}

// silent reports whether a reply without text ends before the headers.
func (r Reply) silent() bool { return r.Pings == 0 && (r.End == Hang || r.End == Reset) }

func (r Reply) finish() string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}
