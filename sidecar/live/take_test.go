package live

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// An edit that was refused is kept for everyone to see, until it is gone: put
// right, or taken back.
func TestRefusedAndReverted(t *testing.T) {
	r := liveRules(t, "")
	r.watch()
	before, good := r.version(), "mode: provider"
	ruletest.Edit(t, r.dir, "models.yaml", good, "mode: provder")
	ruletest.Soon(t, "the edit is refused", func() bool { return r.said("rules_refused") == 1 })
	report := r.live.Report(false)
	if report.Version != before || len(report.Refused.Version) != 12 || report.Refused.Version == before ||
		report.Refused.By != "watch" ||
		len(report.Refused.Problems) != 1 || report.Refused.Problems[0].File != filepath.Join(r.dir,
		"models.yaml") || report.Refused.Problems[0].Line == 0 {
		t.Errorf("%+v", report.Refused)
	}
	if r.metric("rules_last_reload_successful") != "0" || r.live.Trouble() == "" {
		t.Error("nobody hears of it")
	}
	ruletest.Edit(t, r.dir, "models.yaml", "mode: provder", good)
	ruletest.Soon(t, "it is gone", func() bool { return r.said("rules_reverted") == 1 })
	if r.metric("rules_last_reload_successful") != "1" || r.live.Report(false).Refused != nil ||
		r.live.Trouble() != "" || r.version() != before {
		t.Errorf("after it is gone: %s\n%s", r.live.Trouble(), r.log)
	}
	if r.metric(`rules_reloads_total{result="refused"}`) != "1" ||
		r.metric(`rules_reloads_total{result="reverted"}`) != "1" ||
		r.metric(`rules_reloads_total{result="taken"}`) != "" {
		t.Error("counted wrongly")
	}
}

// What the admin API puts in force is on disk, and the watcher, which sees that,
// does not do it again.
func TestPutIsOneReload(t *testing.T) {
	r := liveRules(t, "")
	r.watch()
	for _, alias := range []string{"one", "two"} {
		edit, err := r.live.Put(r.own(alias), Seen{Versions: []string{r.version()}})
		if err != nil || !edit.Changed || edit.Version != r.version() {
			t.Fatalf("%+v, %v", edit, err)
		}
		if files, err := r.live.src.Read(); err != nil || files.Version() != r.version() {
			t.Fatalf("on disk: %s, %v", files.Version(), err)
		}
	}
	// The watcher still sees edits in the folder that was swapped in; when it has
	// taken one, it is done with what was put.
	ruletest.Edit(t, r.dir, "aliases.yaml", "# two", "# three")
	onDisk, err := r.live.src.Read()
	ruletest.Must(t, err)
	ruletest.Soon(t, "an edit on disk",
		func() bool { return r.version() == onDisk.Version() && r.said("rules_taken") > 2 })
	if r.metric(`rules_reloads_total{result="taken"}`) != "3" || r.said("rules_taken") != 3 ||
		r.said("rules_reverted") != 0 {
		t.Errorf("%s", r.log)
	}
}

// What a file takes away from another one is told by the log, the report and the history.
func TestTakenAway(t *testing.T) {
	r := liveRules(t, "")
	text := "version: 1\nroots:\n  write: null\n"
	ruletest.Must(t, os.MkdirAll(r.dir+"/extras", 0o755))
	ruletest.Must(t, os.WriteFile(r.dir+"/extras/exec.yaml", nil, 0o644))
	edit, err := r.live.Merge(map[string]*string{"extra/paths.ours.yaml": &text}, Seen{Any: true})
	ruletest.Must(t, err)
	lines, now := r.log.Lines("rules_taken_away"), r.live.Report(false)
	if len(lines) != 1 || !strings.Contains(lines[0], "level=WARN") ||
		!strings.Contains(lines[0], "what=write from=paths.yaml:") ||
		!strings.Contains(lines[0], " by=extra/paths.ours.yaml:3") {
		t.Errorf("%q", lines)
	}
	if len(edit.Taken) != 1 || len(now.Taken) != 1 || len(r.live.History()[0].Taken) != 1 ||
		now.Taken[0].By != "extra/paths.ours.yaml:3" {
		t.Errorf("%+v %+v", edit, now.Taken)
	}
	if len(now.Warnings) != 1 || now.Warnings[0].File != "extras" {
		t.Errorf("%v", now.Warnings)
	}
}

// An edit of what is read at start only is in force, and it is said that this takes a restart.
func TestRestart(t *testing.T) {
	r, connect := liveRules(t, ""), regexp.MustCompile(`connect: \ds`)
	for _, row := range []struct{ connect, warns string }{{"3s", "time.connect is read at start only"},
		{"5s", ""}} {
		files := r.own("connect " + row.connect)
		files["limits.yaml"] = connect.ReplaceAllString(files["limits.yaml"], "connect: "+row.connect)
		edit, err := r.live.Put(files, Seen{Any: true})
		ruletest.Must(t, err)
		if said := edit.Warnings.Error(); row.warns == "" && said != "" ||
			!strings.Contains(said, row.warns) {
			t.Errorf("%s: %s", row.connect, said)
		}
	}
	if n := r.said("rules_warnings"); n != 1 {
		t.Errorf("it was said %d times", n)
	}
}

// The history says what came when, and an earlier version can be put back.
func TestRollback(t *testing.T) {
	r := liveRules(t, "")
	versions := []string{r.version()}
	for _, alias := range []string{"one", "two"} {
		if _, err := r.live.Put(r.own(alias), Seen{Any: true}); err != nil {
			t.Fatal(err)
		}
		versions = append(versions, r.version())
	}
	for _, row := range []struct{ to, want string }{{"", versions[1]}, {"", versions[2]},
		{versions[0], versions[0]}} {
		edit, err := r.live.Rollback(row.to, Seen{Any: true})
		if files, onDisk := r.live.src.Read(); err != nil || edit.Version != row.want || onDisk != nil ||
			files.Version() != row.want {
			t.Fatalf("back to %q: %+v, %v", row.to, edit, err)
		}
	}
	past := r.live.History()
	if len(past) != 6 || past[0].By != "rollback" || !past[0].InForce || past[1].InForce ||
		past[0].Counts.Files == 0 || past[3].By != "put" ||
		past[5].By != "start" || len(past[4].Changed) != 1 || past[4].Changed[0] != "aliases.yaml" {
		t.Errorf("%+v", past)
	}
	if _, err := r.live.Rollback("000000000000", Seen{Any: true}); err != ErrNoVersion {
		t.Errorf("%v", err)
	}
}

// Who publishes stands in the history, tests of what is offered change nothing, and an earlier text is
// found again.
func TestWhoAndWhat(t *testing.T) {
	r := liveRules(t, "")
	first, own := r.version(), r.own("one")
	report, problems, err := r.live.Test(own)
	if err != nil || problems.Fatal() || report == nil || len(report.Tests) == 0 || r.version() != first {
		t.Fatalf("%+v, %v, %v", report, problems, err)
	}
	text := own["aliases.yaml"]
	_, err = r.live.Merge(map[string]*string{"aliases.yaml": &text}, Seen{Versions: []string{first},
		Who: "Ann"})
	ruletest.Must(t, err)
	_, err = r.live.Rollback(first, Seen{Versions: []string{report.Version}, Who: "Bob"})
	ruletest.Must(t, err)
	if past := r.live.History(); past[0].Who != "Bob" || past[1].Who != "Ann" ||
		r.live.Report(false).Who != "Bob" {
		t.Errorf("%+v", past)
	}
	if was, ok := r.live.Texts(report.Version); !ok || was["aliases.yaml"] != text {
		t.Errorf("the text of then is %.80q, %v", was["aliases.yaml"], ok)
	}
	if _, ok := r.live.Texts("000000000000"); ok {
		t.Error("there is a text of no version")
	}
	bad := ruletest.Broken(t, r.own("two"))
	if _, err := r.live.Put(bad, Seen{Any: true}); err == nil {
		t.Fatal("it is taken")
	}
	broken := bad["models.yaml"]
	if _, err := r.live.Merge(map[string]*string{"models.yaml": &broken},
		Seen{Any: true, Who: "Cid"}); err == nil {
		t.Fatal("it is taken")
	}
	if who := r.live.Report(false).Refused.Who; who != "Cid" {
		t.Errorf("the last refused edit is by %s", who)
	}
}

// Some files are put over those that are in force when their turn comes.
func TestMergeWaitsItsTurn(t *testing.T) {
	r := liveRules(t, "")
	text := "Be brief."
	r.live.change.Lock()
	got := make(chan error, 1)
	go func() {
		_, err := r.live.Merge(map[string]*string{"prompts/mine.txt": &text}, Seen{Any: true})
		got <- err
	}()
	time.Sleep(100 * time.Millisecond) // it waits
	first := r.own("one")
	_, err := r.live.edit(first, Seen{Any: true}, byPut)
	r.live.change.Unlock()
	ruletest.Must(t, err)
	ruletest.Must(t, <-got)
	onDisk, err := rulefile.ReadDir(r.dir)
	ruletest.Must(t, err)
	if changed := onDisk.Differ(first); len(changed) != 1 || changed[0] != "prompts/mine.txt" {
		t.Errorf("%v are other than was put first", changed)
	}
}

// What somebody saves while an edit is compiled is not overwritten by it.
func TestPutOverWhatWasJustSaved(t *testing.T) {
	r := liveRules(t, "")
	seen, put := Seen{Versions: []string{r.version()}}, r.own("one")
	ruletest.Must(t, r.live.checkSeen(seen))
	ruletest.Edit(t, r.dir, "aliases.yaml", "version: 1", "version: 1\n# saved")
	var stale *Stale
	if err := r.live.write(put, seen); !errors.As(err, &stale) {
		t.Errorf("%v", err)
	}
	ruletest.Edit(t, r.dir, "aliases.yaml", "# saved", "# still there")
}

// Files that cannot be written change nothing in force.
func TestPutThatCannotBeWritten(t *testing.T) {
	r := liveRules(t, "")
	if err := os.Mkdir(filepath.Join(r.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := r.version()
	if _, err := r.live.Put(r.own("one"), Seen{Any: true}); err == nil ||
		!strings.Contains(err.Error(), "checkout") {
		t.Errorf("%v", err)
	}
	if r.version() != before || r.live.Report(false).Refused != nil || len(r.live.History()) != 1 {
		t.Error("something has changed")
	}
}

// Reloads leave nothing behind, however many. RELOADS=10000 makes as many of them,
// which takes one and a half minutes.
func TestReloadsLeaveNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and long")
	}
	r := liveRules(t, "")
	r.live.log, r.live.loader = slog.New(slog.DiscardHandler), ruletest.Loader() // which keeps nothing
	sets := []rulefile.Files{r.own("one"), r.own("two")}
	reload := func(n int) {
		for i := range n {
			whole, err := r.live.src.Whole(sets[i%2])
			if err != nil {
				t.Fatal(err)
			}
			r.live.change.Lock()
			err = r.live.apply(whole, nil, origin{by: byWatch}, nil)
			r.live.change.Unlock()
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	heap := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	reload(2 * Length)
	before := heap()
	began := time.Now()
	n := 60
	if given, err := strconv.Atoi(os.Getenv("RELOADS")); err == nil {
		n = given
	}
	reload(n)
	after := heap()
	runtime.KeepAlive(r) // what it holds is looked for
	t.Logf("%d reloads in %s; the heap was %d KiB and is %d KiB", n,
		time.Since(began).Round(time.Millisecond), before>>10, after>>10)
	if grown := after - before; grown > 64<<10 { // a kilobyte for each; it is steady within a few
		t.Errorf("the heap has grown by %d KiB", grown>>10)
	}
}

// Files of a folder come from what published them, until they are edited by hand.
func TestPublisher(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct{ by, want string }{{ByPromote, ByPromote}, {"", ""}, {ByPromote, ByPromote}} {
		files := rulefile.Files{"aliases.yaml": fmt.Sprint("version: ", i)}
		if _, err := ReplaceFiles(dir, files, c.by); err != nil {
			t.Fatal(err)
		}
		if got := publisher(dir, files); got != c.want {
			t.Errorf("published by %q: %q, want %q", c.by, got, c.want)
		}
		if got := publisher(dir, rulefile.Files{"aliases.yaml": "edited"}); got != "" {
			t.Errorf("edited files come from %q", got)
		}
	}
}
