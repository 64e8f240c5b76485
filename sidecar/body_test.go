package sidecar

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// Who says that much comes, and sends little, gets little memory.
func TestBodyTakesWhatCame(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{"))
	r.ContentLength = 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	body, err := readBody(httptest.NewRecorder(), r, 128<<20)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 || string(body) != "{" || err != nil {
		t.Errorf("%d bytes for %q, %v", took, body, err)
	}
}
