package experiment

import (
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
)

// Masking what is longest takes linear time: a quarter takes a quarter, about.
func TestHostileTextIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	for _, piece := range []string{"password=", "key ", "token:\"", "--token a ", "{\"", "[",
		"\"password\":\"\\\"", "cookie: a=b; ", "«masked:", "-----BEGIN PRIVATE KEY-----", "sk-", "eyJ",
		"Bearer ", "://a:", "x", "\x01", "authorization: basic "} {
		took := func(n int) time.Duration {
			r := sample("r", time.Now())
			r.Content = strings.Repeat(piece, n/len(piece))
			return testkit.LeastTime(func() { lineOf(t, captureRule{Mask: true}, r) })
		}
		if short, long := took(maxText/16), took(maxText/4); long > 10*short+50*time.Millisecond {
			t.Errorf("%q: %v for %d bytes, %v for a quarter", piece, long, maxText/4, short)
		}
	}
}
