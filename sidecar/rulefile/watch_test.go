package rulefile

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets all tests that wait run at once: they hardly need the machine.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "20"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// seen is one call of apply.
type seen struct {
	files Files
	err   error
	at    time.Time
}

// watched writes two rule files, watches them, and gives what is applied.
func watched(t *testing.T) (dir string, applied <-chan seen) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "rules")
	mkdir(t, dir)
	write(t, dir+"/exec.yaml", "a: 1\n")
	write(t, dir+"/limits.yaml", "a: 1\n")
	return dir, watching(t, dir)
}

func watching(t *testing.T, dir string) <-chan seen {
	t.Helper()
	ch := make(chan seen, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Watch(ctx, Source{Dir: dir}, "",
			func(f Files, err error) bool { ch <- seen{f, err, time.Now()}; return true })
	}()
	t.Cleanup(func() { cancel(); <-done })
	<-ch // the first look is over
	return ch
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// collect gives what is applied until it has been quiet for a while. Where
// something must come it waits longer for the first: machines are busy at times.
func collect(applied <-chan seen, something bool) (all []seen) {
	wait := 500 * time.Millisecond
	if something {
		wait = 2 * time.Minute
	}
	for {
		select {
		case s := <-applied:
			all = append(all, s)
		case <-time.After(wait):
			return all
		}
		wait = 500 * time.Millisecond
	}
}

// TestWatchEditors: one reload for one change of content, however it is saved.
func TestWatchEditors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(t *testing.T, dir string)
		want string        // of exec.yaml after the one reload; empty: no reload
		rest time.Duration // what the edit itself waits
	}{
		{"plain write", func(t *testing.T, d string) { write(t, d+"/exec.yaml", "b: 2\n") }, "b: 2\n", 0},
		{"truncate and three slow chunks", func(t *testing.T, d string) {
			f, err := os.Create(d + "/exec.yaml")
			check(t, err)
			for _, s := range []string{"b:", " 2\n", "c: 3\n"} {
				time.Sleep(40 * time.Millisecond) // an editor that writes in pieces
				_, err := f.WriteString(s)
				check(t, err)
			}
			check(t, f.Close())
		}, "b: 2\nc: 3\n", 120 * time.Millisecond},
		{"rename to a backup, write anew, delete the backup", func(t *testing.T, d string) {
			check(t, os.Rename(d+"/exec.yaml", d+"/exec.yaml~"))
			write(t, d+"/exec.yaml", "b: 2\n")
			check(t, os.Remove(d+"/exec.yaml~"))
		}, "b: 2\n", 0},
		{"temporary file, renamed over", func(t *testing.T, d string) {
			write(t, d+"/.exec.yaml.tmp", "b: 2\n")
			check(t, os.Rename(d+"/.exec.yaml.tmp", d+"/exec.yaml"))
		}, "b: 2\n", 0},
		{"two files, 60 ms apart", func(t *testing.T, d string) {
			write(t, d+"/exec.yaml", "b: 2\n")
			time.Sleep(60 * time.Millisecond) // as long as the name of the row says
			write(t, d+"/limits.yaml", "b: 2\n")
		}, "b: 2\n", 60 * time.Millisecond},
		{"new file", func(t *testing.T, d string) { write(t, d+"/new.yaml", "x: 1\n") }, "a: 1\n", 0},
		{"removed file", func(t *testing.T, d string) { check(t, os.Remove(d+"/limits.yaml")) }, "a: 1\n", 0},
		{"folder replaced", func(t *testing.T, d string) {
			check(t, os.Rename(d, d+"-old"))
			mkdir(t, d+"-new")
			write(t, d+"-new/exec.yaml", "b: 2\n")
			check(t, os.Rename(d+"-new", d))
		}, "b: 2\n", 0},
		{"mode only", func(t *testing.T, d string) { check(t, os.Chmod(d+"/exec.yaml", 0o400)) }, "", 0},
		{"the same bytes", func(t *testing.T, d string) { write(t, d+"/exec.yaml", "a: 1\n") }, "", 0},
		{"there and back", func(t *testing.T, d string) {
			write(t, d+"/exec.yaml", "b: 2\n")
			write(t, d+"/exec.yaml", "a: 1\n")
		}, "", 0},
		{"swap file", func(t *testing.T, d string) { write(t, d+"/.exec.yaml.swp", "junk") }, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []seen
			for range 10 {
				dir, applied := watched(t)
				stalled := stalls()
				began := time.Now()
				c.edit(t, dir)
				edited := time.Now()
				got = collect(applied, c.want != "")
				late := max(stalled(), edited.Sub(began)-c.rest) // a disk may stand still, too
				switch {
				case len(got) == 0 && c.want == "":
					return
				case len(got) == 1 && got[0].err == nil && got[0].files["exec.yaml"] == c.want &&
					got[0].at.Sub(edited) < poll:
					return
				case late < settle/2:
					t.Fatalf("%d reloads: %v", len(got), got)
				}
				t.Logf("%d reloads while the machine stood still for %v: again", len(got), late)
			}
			t.Fatalf("%d reloads each time, the last ones: %v", len(got), got)
		})
	}
}

// stalls watches the machine until it is asked for how long it stood still. An edit that
// stands still in its middle is two edits.
func stalls() (longest func() time.Duration) {
	stop, late := make(chan struct{}), make(chan time.Duration)
	go func() {
		var most time.Duration
		for {
			began := time.Now()
			select {
			case <-stop:
				late <- most
				return
			case <-time.After(time.Millisecond):
				most = max(most, time.Since(began)-time.Millisecond)
			}
		}
	}()
	return func() time.Duration { close(stop); return <-late }
}

// TestWatchConfigMap swaps the folder behind the links, as Kubernetes does.
func TestWatchConfigMap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	swap := func(version, text string) {
		mkdir(t, filepath.Join(dir, version))
		write(t, filepath.Join(dir, version, "exec.yaml"), text)
		check(t, os.Symlink(version, filepath.Join(dir, "..data_tmp")))
		check(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	}
	swap("..v1", "a: 1\n")
	check(t, os.Symlink("..data/exec.yaml", filepath.Join(dir, "exec.yaml")))
	applied := watching(t, dir)
	swap("..v2", "b: 2\n")
	check(t, os.RemoveAll(filepath.Join(dir, "..v1")))
	if got := collect(applied, true); len(got) != 1 || got[0].files["exec.yaml"] != "b: 2\n" {
		t.Fatalf("applied %v", got)
	}
}

// TestWatchPrompts: prompts are part of the rules, also when their folder is new.
func TestWatchPrompts(t *testing.T) {
	t.Parallel()
	dir, applied := watched(t)
	for _, text := range []string{"be brief", "be kind"} {
		mkdir(t, dir+"/prompts")
		write(t, dir+"/prompts/native.txt", text)
		if got := collect(applied, true); len(got) != 1 || got[0].files["prompts/native.txt"] != text {
			t.Fatalf("applied %v", got)
		}
	}
}

// TestWatchDuringApply: an edit that comes while the one before is applied is
// not lost, and one that comes before the watch begins is not, either.
func TestWatchDuringApply(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/a.yaml", "1")
	files, err := ReadDir(dir)
	check(t, err)
	write(t, dir+"/a.yaml", "2")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got []string
	Watch(ctx, Source{Dir: dir}, files.Version(), func(f Files, err error) bool {
		got = append(got, f["a.yaml"])
		switch f["a.yaml"] {
		case "2":
			write(t, dir+"/a.yaml", "3")
			time.Sleep(200 * time.Millisecond) // the event comes while this goes on
		case "3":
			cancel()
		}
		return true
	})
	if strings.Join(got, " ") != "2 3" {
		t.Errorf("applied %v", got)
	}
}

// TestWatchPutOff: files that apply was not done with come again.
func TestWatchPutOff(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a.yaml", "1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	calls := 0
	Watch(ctx, Source{Dir: dir}, "", func(Files, error) bool {
		if calls++; calls == 2 {
			cancel()
		}
		return calls == 2
	})
	if calls != 2 {
		t.Errorf("applied %d times", calls)
	}
}

// TestWatchTrouble: what cannot be read is reported once, and mended rules are
// taken up again.
func TestWatchTrouble(t *testing.T) {
	t.Parallel()
	dir, applied := watched(t)
	check(t, os.Chmod(dir+"/exec.yaml", 0o666))
	got := collect(applied, true)
	if len(got) != 1 || got[0].err == nil || !strings.Contains(got[0].err.Error(), "chmod o-w") {
		t.Fatalf("applied %v", got)
	}
	check(t, os.RemoveAll(dir))
	if got := collect(applied, true); len(got) != 1 || got[0].err == nil {
		t.Fatalf("without the folder: %v", got)
	}
	mkdir(t, dir)
	write(t, dir+"/exec.yaml", "c: 3\n")
	if got := collect(applied, true); len(got) != 1 || got[0].files["exec.yaml"] != "c: 3\n" {
		t.Fatalf("with the folder again: %v", got)
	}
}
