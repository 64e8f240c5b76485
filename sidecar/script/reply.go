package script

import (
	"net/http"
	"time"
)

// Reply is what the server does with one request. The zero Reply is the empty
// reply: a well-formed stream without a word in it.
type Reply struct {
	Reasoning string // sent first, in the reasoning field of the dialect
	Content   string
	Calls     []Call   // native tool_calls
	Deltas    []string // JSON of delta objects, sent as they are after the above; streams only
	Prompt    int      // prompt_tokens of its usage; 0: a fourth of the bytes
	Finish    string   // "": tool_calls where there are Calls, else stop

	End End   // how it ends
	Err Error // with a Status: the HTTP answer; with End Fault: the error in the stream
	// the whole HTTP body verbatim, with status Err.Status (0: 200); what begins with < is HTML
	Body  string
	Retry string        // value of a Retry-After header
	Delay time.Duration // before the headers
	Until chan struct{} // is closed before the headers; nil: there is nothing to wait for
	Pings int           // comments before the first chunk; streams only
	Pause time.Duration // before each of them, and before each chunk

	Whole   bool // one JSON body, although a stream was asked for
	NoUsage bool // a stream without usage
}

// End is what comes after the last chunk of a reply.
type End int

// The ends of a reply. For a reply without text or comments, Hang and Reset come before the
// headers.
const (
	Done End = iota // finish_reason, usage, [DONE]
	// nothing: neither finish_reason nor [DONE]. Ollama does so after 31 equal tokens, and then a whole reply
	// has no finish_reason
	Short
	Unsaid  // [DONE] without a finish_reason
	Garbled // an event that is no JSON, then [DONE]
	// an error inside the stream of status 200, as the dialect tells it; without a stream, an HTTP error
	Fault
	Reset // the connection is cut
	Hang  // silence until the caller leaves
)

// Error is an error as a gpt-oss server tells it; its JSON shape is the
// dialect's.
type Error struct {
	Status  int
	Type    string
	Message string
}

// Text is a reply in plain words.
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

// Thinking is the reply after this chain of thought.
func (r Reply) Thinking(text string) Reply {
	r.Reasoning = text
	return r
}

// Ending is the reply with another end.
func (r Reply) Ending(e End) Reply {
	r.End = e
	return r
}

// silent reports whether the reply ends before the headers, if it has no text.
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
