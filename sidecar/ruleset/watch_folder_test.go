package ruleset

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// TestWatchReplacedSubfolder: a folder inside that was replaced is watched again: an
// edit in it does not wait for the next poll.
func TestWatchReplacedSubfolder(t *testing.T) {
	t.Parallel()
	dir, applied := watched(t)
	for i := range 3 {
		check(t, os.RemoveAll(dir+"/tests"))
		mkdir(t, dir+"/tests")
		write(t, dir+"/tests/x.yaml", fmt.Sprintf("a: %d\n", i))
		if got := collect(applied, true); len(got) == 0 {
			t.Fatal("the new folder is not seen")
		}
	}
	write(t, dir+"/tests/x.yaml", "edited: 1\n")
	edited := time.Now()
	got := collect(applied, true)
	if len(got) != 1 || got[0].files["tests/x.yaml"] != "edited: 1\n" {
		t.Fatalf("applied %v", got)
	}
	if lag := got[0].at.Sub(edited); lag > poll/2 {
		t.Errorf("seen after %s, by the poll", lag)
	}
}

// TestWatchBesideNoise: a file that is no rule and is written all the time does not
// keep an edit waiting.
func TestWatchBesideNoise(t *testing.T) {
	t.Parallel()
	dir, applied := watched(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 40 {
			_ = os.WriteFile(dir+"/notes.log", []byte{byte(i)}, 0o600)
			time.Sleep(50 * time.Millisecond)
		}
	}()
	time.Sleep(200 * time.Millisecond)
	write(t, dir+"/exec.yaml", "b: 2\n")
	edited := time.Now()
	if got := collect(applied, true); len(got) != 1 || got[0].at.Sub(edited) > 15*quiet {
		t.Errorf("applied %v", got)
	}
	<-done
}
