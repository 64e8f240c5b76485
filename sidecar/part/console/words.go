package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
	"github.com/jgavinray/gpt-oss-executor/sidecar/decisions"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// funcs are the functions of the templates.
func funcs() template.FuncMap {
	return template.FuncMap{"shown": shown, "duration": duration, "clock": clock, "bytes": size,
		"plural": terminal.Count, "stamp": stamp, "ends": strings.HasSuffix,
		"brought": originWords, "placeOf": placeOf, "fileHref": fileHref, "ruleHref": ruleHref,
		"fate":   fateWords,
		"remedy": remedyWords, "inc": func(n int) int { return n + 1 }}
}

// shown masks the secrets of a text and makes invisible characters visible.
func shown(s string) string {
	s, _ = secrets.Mask(s)
	return approvals.Visible(s)
}

// shownJSON is shown for a document, in which the names of members may reveal secrets.
func shownJSON(doc []byte) string {
	if masked, n, err := secrets.MaskJSON(doc); err == nil && n > 0 {
		return approvals.Visible(string(masked))
	}
	if json.Valid(doc) {
		return approvals.Visible(string(doc))
	}
	return shown(string(doc))
}

// fateWords describes what became of a call.
func fateWords(became string) string {
	if became == string(decisions.Passed) {
		return "sent on"
	}
	return became
}

// remedyWords describes what was done about a fault.
func remedyWords(a ruleset.Action) string {
	switch a {
	case ruleset.Correct:
		return "the model was asked to correct it"
	case ruleset.Resample:
		return "the model was asked the same again"
	}
	return "given up"
}

func clock(t time.Time) string { return t.Format("15:04:05") }

// originWords describes the origin of rules.
func originWords(by string) string {
	causes := map[string]string{"start": "the start", "watch": "files that were saved",
		"put": "the admin API", "rollback": "a rollback", "promote": "a promotion"}
	return cmp.Or(causes[by], by)
}

// duration formats a duration for people.
func duration(d time.Duration) string {
	switch {
	case d < time.Millisecond && d > 0:
		return "<1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// size formats a number of bytes.
func size(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d B", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// tokenWords formats a number of tokens.
func tokenWords(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
