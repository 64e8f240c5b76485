package upstream

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// A retry is told, the end of the retries is not: it comes as a fault.
func TestRetriesAreLogged(t *testing.T) {
	var out bytes.Buffer
	lim := testSet().Limits
	a := &attempts{log: slog.New(slog.NewTextHandler(&out, nil)), lim: &lim, Budget: Retries(&lim)}
	for range lim.Retries + 1 {
		if _, err := a.check(t.Context(), &http.Response{StatusCode: 503}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(out.String(),
		"level=WARN msg=\"the model server is asked again\" event=retrying_gpt_oss_call"); got != lim.Retries {
		t.Errorf("%d of %d retries are in the log:\n%s", got, lim.Retries, &out)
	}
}
