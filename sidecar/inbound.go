package sidecar

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
)

// readBody reads at most limit bytes. The buffer fits the body where its length
// is known.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, openai.TooLarge(limit)
	}
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		buf.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	err = errors.Join(err, r.Body.Close())
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, openai.TooLarge(limit)
	case err != nil:
		e := openai.InvalidRequest("", "the request body ended early")
		e.Log = "read request body: " + err.Error()
		return nil, e
	case buf.Len() == 0:
		return nil, openai.InvalidRequest("", "the request body is empty; send a JSON object with model and messages")
	}
	return buf.Bytes(), nil
}

// callerWaits is how long the caller says that it waits, as the OpenAI SDKs do; 0: it does
// not say.
func callerWaits(h http.Header) time.Duration {
	const most = 1 << 24 // seconds; more would not fit a Duration
	n, err := strconv.ParseFloat(h.Get("X-Stainless-Timeout"), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n, most) * float64(time.Second))
}

// keepalive is how long a caller is left without an event: a third of what it waits, if
// that is less than the rules say.
func keepalive(waits, most time.Duration) time.Duration {
	if third := waits / 3; third > 0 && third < most {
		return max(third, 100*time.Millisecond)
	}
	return most
}
