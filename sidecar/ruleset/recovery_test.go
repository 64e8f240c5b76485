package ruleset

import (
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// older is recovery.yaml without what was added to it later.
func older(t *testing.T) string {
	text := shipped(t)[recoveryFile]
	for _, cut := range []string{`(?m)^    say: .*\n`, `(?m)^  (?:away|cut|filtered):\n(?:    .*\n)+`} {
		was := text
		if text = regexp.MustCompile(cut).ReplaceAllString(text, ""); text == was {
			t.Fatalf("nothing is cut by %s", cut)
		}
	}
	return text
}

// TestOlderRecovery: a file that does not know the younger faults and keys loads, also under
// a locked folder, and a server that is away is what it was before: unreachable.
func TestOlderRecovery(t *testing.T) {
	for name, locked := range map[string]rulefile.Files{"alone": nil,
		"under lock": {limitsFile: "version: 1\ntime: {idle: 1m}\n"}} {
		set, problems := underLock(t, locked, rulefile.Files{recoveryFile: older(t)})
		if set == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		r := set.Recovery
		if away, was := r.For(Away), r.For(Unreachable); away != was || away.Status != 503 {
			t.Errorf("%s: away is %+v", name, away)
		}
		for _, f := range []Fault{Cut, Filtered} {
			if got := r.For(f); got != (Remedy{}) {
				t.Errorf("%s: %s is %+v", name, f, got)
			}
		}
		for _, f := range allFaults {
			remedy := r.For(f)
			if remedy.Sentence("x") != "" {
				t.Errorf("%s: %s says %q", name, f, remedy.Sentence("x"))
			}
		}
	}
}

// What is shipped: nothing that a new try does not help leads to one, and no status and no
// word of an error makes OpenClaw switch the provider off.
func TestShippedRecovery(t *testing.T) {
	off := regexp.MustCompile(`(?i)unauthorized|forbidden|authentication|access denied|expired|invalid token|api key|\b40[123]\b|payment|credits`)
	r := loaded(t).Recovery
	for _, f := range allFaults {
		remedy := r.For(f)
		if remedy.Status >= 401 && remedy.Status <= 403 || off.MatchString(remedy.Message.Value) {
			t.Errorf("%s: %d %q", f, remedy.Status, remedy.Message.Value)
		}
		if says := remedy.Sentence("It is so."); says != "" && (!strings.HasSuffix(says, ".") ||
			strings.Contains(says, "{")) {
			t.Errorf("%s says %q", f, says)
		}
	}
	for _, f := range []Fault{Auth, Away} {
		if remedy := r.For(f); remedy.Status != 424 || remedy.Type != "invalid_request_error" ||
			remedy.RetryAfter != 0 || f == Auth && strings.Contains(remedy.Message.Value, "{why}") ||
			remedy.Says.Value == "" {
			t.Errorf("%s: %+v", f, remedy)
		}
	}
}

func TestSayIsChecked(t *testing.T) {
	files := maps.Clone(shipped(t))
	files[recoveryFile] = testkit.Replace(t, files[recoveryFile], "It says: {why}", "It says: {tool}", 1)
	if set, problems := Full.Load(files); set != nil ||
		!strings.Contains(problems.Error(), "{tool} is not filled in here") {
		t.Errorf("%v", problems)
	}
}

// TestPatience: a caller raises a limit, up to a bound, and never lowers it. A locked limit
// bounds it, too; limits.yaml of older versions need not name any of this.
func TestPatience(t *testing.T) {
	old := regexp.MustCompile(`(?m)^  (?:caller_wait|away): .*\n(?:   +#.*\n)*`).ReplaceAllString(shipped(t)[limitsFile], "")
	if strings.Contains(old, "away") {
		t.Fatal(old)
	}
	for name, row := range map[string]struct {
		says, locked string
		caller, want time.Duration // for first_byte, which is 5m
		away         time.Duration
	}{
		"not said":      {"", "", 0, 5 * time.Minute, 3 * time.Second},
		"less":          {"", "", time.Minute, 5 * time.Minute, 3 * time.Second},
		"seven minutes": {"", "", 15 * time.Minute, 15 * time.Minute, 3 * time.Second},
		"for ever":      {"", "", 1 << 62, 30 * time.Minute, 3 * time.Second},
		"bounded": {"  caller_wait: 6m\n  away: 1m\n", "", time.Hour, 6 * time.Minute,
			time.Minute},
		"off":                   {"  caller_wait: 10ms\n", "", time.Hour, 5 * time.Minute, 3 * time.Second},
		"locked":                {"", "first_byte: 1m", time.Hour, time.Minute, 3 * time.Second},
		"locked, another limit": {"", "idle: 6m", time.Hour, 6 * time.Minute, 3 * time.Second},
		"locked bound":          {"", "caller_wait: 7m", time.Hour, 7 * time.Minute, 3 * time.Second},
	} {
		locked := rulefile.Files{}
		if row.locked != "" {
			locked[limitsFile] = "version: 1\ntime: {" + row.locked + "}\n"
		}
		set, problems := untried(lockedFiles(t, locked, rulefile.Files{
			limitsFile: strings.Replace(old, "\ntime:\n", "\ntime:\n"+row.says, 1)}))
		if set == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		if got := set.Limits.Patience(set.Limits.FirstByte, row.caller); got != row.want ||
			set.Limits.Away != row.away {
			t.Errorf("%s: %s, away %s", name, got, set.Limits.Away)
		}
	}
}
