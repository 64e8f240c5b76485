package servers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// The model does better with the prompt, and its luck without one depends on the number alone.
func TestPrompted(t *testing.T) {
	s := script.New(Prompted("Be short."))
	for _, row := range []struct{ messages, want string }{
		{`{"role":"user","content":"read number 4"}`, ThereMD},
		{`{"role":"user","content":"read number 5"}`, GoneMD},
		{`{"role":"system","content":"Be short."},{"role":"user","content":"read number 5"}`, ThereMD},
		{`{"role":"user","content":"read number 5"},{"role":"user","content":"what the gateway adds"}`, GoneMD},
		{`{"role":"user","content":"read number 5"},{"role":"tool","content":"Error"}`, "Done."},
		{`{"role":"tool","content":"Error"},{"role":"assistant","content":"Done."},{"role":"user","content":"read number 5"}`, GoneMD},
		{`{"role":"user","content":"hello"}`, "no scenario"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions",
			strings.NewReader(`{"model":"gpt-oss","messages":[`+row.messages+`]}`)))
		if !strings.Contains(w.Body.String(), row.want) {
			t.Errorf("%s: %s", row.messages, w.Body)
		}
	}
}
