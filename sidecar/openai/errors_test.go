package openai

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestErrors(t *testing.T) {
	for _, row := range []struct {
		err     *Error
		status  int
		typ     string
		code    string
		message string // a part of it
	}{
		{InvalidRequest("n", "n is odd"), 400, "invalid_request_error", "", "n is odd"},
		{Unauthorized(), 401, "authentication_error", "invalid_api_key", "Authorization: Bearer"},
		{ModelNotFound("gpt-5"), 404, "invalid_request_error", "model_not_found", `"gpt-5"`},
		{TooLarge(16 << 20), 413, "invalid_request_error", "request_too_large", "16777216 bytes"},
		{Overflow("This model's maximum context length is exceeded.", ""), 400, "invalid_request_error", "context_length_exceeded", "maximum context length is exceeded"},
		{RateLimited(time.Second), 429, "rate_limit_error", "rate_limit_exceeded", "try again"},
		{UpstreamUnreachable("dial tcp 10.0.0.1", 0), 503, "server_error", "upstream_unreachable", "cannot be reached"},
		{UpstreamAuth("401 from 10.0.0.1"), 424, "invalid_request_error", "upstream_auth", "credentials"},
		{UpstreamAway("dial tcp 10.0.0.1"), 424, "invalid_request_error", "upstream_away", "cannot be reached"},
		{UpstreamFailed("The reply was cut.", "x"), 502, "server_error", "upstream_error", "The reply was cut."},
		{UpstreamTimeout("no byte for 1m1s", "x"), 504, "server_error", "upstream_timeout", "for 1m1s"},
		{Overloaded(time.Second), 503, "server_error", "overloaded", "busy"},
		{Internal("nil map"), 500, "server_error", "internal_error", "log"},
	} {
		var body struct {
			Error struct {
				Message, Type string
				Code, Param   *string
			}
		}
		if err := json.Unmarshal(row.err.Body(), &body); err != nil {
			t.Fatalf("%s: %v", row.err.Body(), err)
		}
		e := body.Error
		if row.err.Status != row.status || e.Type != row.typ || !strings.Contains(e.Message, row.message) ||
			e.Message != row.err.Error() {
			t.Errorf("%d %s", row.err.Status, row.err.Body())
		}
		if (e.Code == nil) != (row.code == "") || e.Code != nil && *e.Code != row.code {
			t.Errorf("code in %s, want %q", row.err.Body(), row.code)
		}
		if row.err.Log != "" && strings.Contains(string(row.err.Body()), row.err.Log) &&
			len(row.err.Log) > 1 {
			t.Errorf("the log text is sent: %s", row.err.Body())
		}
	}
}

func TestOwnCallID(t *testing.T) {
	for id, want := range map[string]bool{
		"callABCDEFGHIJKLMNOPQRSTUVWXYZ": true, "call0": false, "": false, "call": false,
		"callABCDEFGHIJKLMNOPQRSTUVWXY":  false,
		"callABCDEFGHIJKLMNOPQRSTUVWXY0": false, "callabcdefghijklmnopqrstuvwxyz": false, "365174485": false,
		"x26ABCDEFGHIJKLMNOPQRSTUVWXYZ": false,
	} {
		if got := OwnCallID(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

func TestCallIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewCallID()
		if seen[id] || id == "" || CleanCallID(id) != id || !OwnCallID(id) {
			t.Fatal(id)
		}
		seen[id] = true
	}
	for _, row := range []struct{ id, want string }{
		{"", ""}, {"call30", "call30"}, {"call_3_0", "call30"}, {"chatcmpl-tool-4f1d0a", "chatcmpltool4f1d0a"}, {"_-.é", ""},
		{strings.Repeat("a", 40), strings.Repeat("a", 40)}, {strings.Repeat("a-", 50), strings.Repeat("a", 40)}, {"a b\n\x00@[`{/:Z9", "abZ9"},
	} {
		if got := CleanCallID(row.id); got != row.want || CleanCallID(got) != got {
			t.Errorf("%q: %q, want %q", row.id, got, row.want)
		}
	}
}
