package turn

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A request that was folded is sent again as it was, and still says what it speaks of; none of its bytes is
// kept meanwhile. A short reply, a small request and one that another server may have to get are left as they
// are.
func TestFold(t *testing.T) {
	long := strings.Repeat("Speak of <reasoning> as a word. ", 100)
	schema := `{"type":"object","properties":{"path":{"type":"string"}}}`
	text := func(said string) []byte {
		return fmt.Appendf(nil, `{"messages":[{"role":"user","content":%q}],"tools":[{"type":"function","function":{"name":"read","parameters":%s}}]}`, said, schema)
	}
	for _, row := range []struct {
		name          string
		said          string
		since         time.Duration
		other, edited bool
		folds         bool
	}{
		{"a long one", long, 3 * time.Second, false, false, true},
		{"with edits", long, 3 * time.Second, false, true, true},
		{"a short reply", long, time.Second, false, false, false},
		{"a small request", "<reasoning>", 3 * time.Second, false, false, false},
		{"another server may be asked", long, 3 * time.Second, true, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			req, err := openai.ParseRequest(text(row.said))
			ruletest.Must(t, err)
			turn := &Turn{original: req, offered: req.Tools, body: req.Body, catalog: tools.NewCatalog(nil,
				nil, req.Tools), asking: asking{began: time.Now().Add(-row.since)}}
			if row.edited {
				turn.body = append(text(row.said), '\n')
			}
			if row.other {
				turn.req = req
			}
			want := string(turn.body)
			turn.fold()
			if folded := turn.body == nil && turn.original == nil; folded != row.folds {
				t.Fatalf("folded: %v", folded)
			}
			turn.fold()
			if size := turn.folded.body.Size() + turn.folded.came.Size(); row.folds && size > len(want)/2 {
				t.Errorf("%d bytes of %d", size, len(want))
			}
			if got := string(turn.message()); got != want || string(turn.message()) != want {
				t.Errorf("sent again: %.100s", got)
			}
			turn.fold() // during the next reply
			if got := string(turn.message()); got != want {
				t.Errorf("sent once more: %.100s", got)
			}
			if !turn.mentions("<reasoning>") || turn.mentions("<tool>") {
				t.Error("it no longer says what it speaks of")
			}
			if got := string(turn.offered[0].Parameters); got != schema || turn.offered[0].Name != "read" {
				t.Errorf("%s %s", turn.offered[0].Name, got)
			}
			copy(req.Body[len(req.Body)-len(schema)-10:], strings.Repeat("!", len(schema)))
			if got := string(turn.offered[0].Parameters); row.folds && got != schema {
				t.Errorf("the tools hold the request: %s", got)
			}
		})
	}
}
