package rulefile

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestItem: whatever is written is read as the same.
func TestItem(t *testing.T) {
	type call struct {
		Name string  `json:"name"`
		Args RawJSON `json:"args"`
	}
	type written struct {
		Text  string   `json:"text"`
		List  []string `json:"list"`
		Calls []call   `json:"calls"`
	}
	type read struct {
		Text  string   `rule:"text"`
		List  []string `rule:"list"`
		Calls []struct {
			Name string `rule:"name"`
			Args any    `rule:"args"`
		} `rule:"calls"`
	}
	signs := []string{" ", "\n", "a", "#", ": ", "-", "!", "&", "*", "'", `"`, `\`, "\t", "\u2028", "\x7f",
		"\u0085", "{", "}", "[", ",", "yes", "1", "é", "😀",
		"\ufeff", "\U000e0001", "?", "|", ">", "%", "@", "`", "\x01", "\r", "null", "~", "2026-01-31", "0x1",
		"<<", "=", strings.Repeat("word ", 30)}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(signs), 0, 6).Draw(t, "signs"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		in := written{text.Draw(t, "text"), []string{text.Draw(t, "entry"), text.Draw(t, "entry")},
			[]call{{text.Draw(t, "name"), RawJSON(`{"x":"\/ \ud83d\ude00"}`)}}}
		item, err := Item(in)
		if err != nil {
			t.Fatal(err)
		}
		out, problems := Decode[struct {
			Items []read `rule:"items"`
		}]("items.yaml", "items:\n"+item)
		if len(problems) > 0 {
			t.Fatalf("%s\n%v", item, problems)
		}
		got := out.Items[0]
		if got.Text != in.Text || !slices.Equal(got.List, in.List) || got.Calls[0].Name != in.Calls[0].Name ||
			got.Calls[0].Args.(map[string]any)["x"] != "/ 😀" {
			t.Fatalf("%q\n%s", in, item)
		}
	})
}
