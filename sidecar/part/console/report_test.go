package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A report says in lines and as a page what was counted.
func TestReport(t *testing.T) {
	sum := tally{Turns: map[Outcome]int{Good: 7, Repaired: 2, Failed: 1},
		Damage: map[string]map[string]map[Outcome]int{"vllm": {"json": {Repaired: 2},
			"empty": {Failed: 1}}}, Asked: 3, Took: 10 * time.Second, Again: time.Second}
	r, err := report(sum, "", time.Now(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, row := range r.rows() {
		text.WriteString(row.Text + "\n")
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := r.write(file); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"10 turns: 2 came damaged and were saved, 1 were lost", "repaired 2",
		"people answered none", "took 1.0 s of 10 s"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(string(page), want) {
			t.Errorf("no %q in\n%s\n%s", want, &text, page)
		}
	}
	for text, want := range map[string]time.Duration{"7d": 168 * time.Hour, "90m": 90 * time.Minute, "d": 0,
		"-1h": 0} {
		if got, err := ageOf(text); got != want || (err != nil) != (want == 0) {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
}
