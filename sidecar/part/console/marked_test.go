package console

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// FuzzMasks: whatever a text holds and wherever it is cut into spans, its pieces together are what
// masking it as a whole gives.
func FuzzMasks(f *testing.F) {
	for _, text := range []string{
		"password=hunter2hunter2 and more", "a sk-proj-abcdefgh12345678 b sk-proj-abcdefgh12345678",
		"«masked:secret:3» password: «masked:secret:9»",
		"curl -u sam:secret99 https://sam:ghp_abcdefghijklmnopqrst@x", `{"token":"sk-proj-abcdefgh12345678"}`,
		"-----BEGIN PRIVATE KEY-----\nabc\n-----END", "",
	} {
		f.Add(text, 3, 9)
	}
	f.Fuzz(func(t *testing.T, text string, a, b int) {
		want, _ := secrets.Mask(text)
		masks, ok := masksOf(text)
		if !ok {
			return // it is shown in one piece
		}
		var got strings.Builder
		cuts := []int{0, bounded(a, len(text)), bounded(b, len(text)), len(text)}
		if cuts[1] > cuts[2] {
			cuts[1], cuts[2] = cuts[2], cuts[1]
		}
		for i := 0; i < 3; i++ {
			got.WriteString(maskPiece(text, cuts[i], cuts[i+1], masks))
		}
		if got.String() != want {
			t.Fatalf("%q cut at %v is shown as %q, want %q", text, cuts, got.String(), want)
		}
	})
}

func bounded(n, most int) int {
	if n < 0 {
		n = -(n + 1)
	}
	return n % (most + 1)
}

// A secret that goes over two spans stands in the first, whole.
func TestMaskOverSpans(t *testing.T) {
	const text = "api_key=sk-proj-abcdefgh12345678 end"
	got := markedOf(replay.Marked{Text: text, Spans: []replay.Span{{From: 0, To: 16, As: replay.AsText},
		{From: 16, To: 20, As: replay.AsHeader}, {From: 20, To: len(text), As: replay.AsCall}}})
	if len(got.Pieces) != 2 || got.Pieces[0].Text != "api_key=«masked:api-key:24»" ||
		got.Pieces[1].Text != " end" {
		t.Errorf("%+v", got.Pieces)
	}
}
