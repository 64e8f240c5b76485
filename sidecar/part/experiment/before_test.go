package experiment

import (
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// While one process takes over from another both count, and the first alone writes. In the end all is counted
// once, also of sessions that both have served; what the first has stopped nobody is in.
func TestTakesOver(t *testing.T) {
	path, set, c := filepath.Join(t.TempDir(), CountsFile), rules(t, ""), &clock{time.Now()}
	first := open(t, path, c)
	serve(first, set, 0, 100, worse)
	ruletest.Must(t, first.Save())
	gone := make(chan struct{})
	second, err := OpenTracker(TrackerConfig{Path: path, Before: gone, Now: func() time.Time { return c.now },
		Metrics: telemetry.New(), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	ruletest.Must(t, err)
	serve(first, set, 90, 150, worse)   // it still serves some
	serve(second, set, 140, 200, worse) // and some come here
	second.readPeers()
	if n := second.Reports(set)[0].Units; n != 160 { // 100 of the file, and 60 of its own
		t.Errorf("meanwhile it goes by %d units", n)
	}
	ruletest.Must(t, second.Save())
	if f, err := ReadCounts(path); err != nil || units(f) != 100 {
		t.Errorf("the second has written %d units, %v", units(f), err)
	}
	ruletest.Must(t, first.Close())
	close(gone)
	second.inherit()
	ruletest.Must(t, second.Close())
	f, err := ReadCounts(path)
	ruletest.Must(t, err)
	if units(f) != 200 {
		t.Errorf("%d units, want 200", units(f))
	}
	turns := 0.0
	for _, a := range f.Trials[0].Arms {
		turns += a.Tallies["empty"].N
	}
	if turns != 100+60+60 {
		t.Errorf("%g requests are counted, want 220", turns)
	}
}

func units(f *File) (n int) {
	for _, a := range f.Trials[0].Arms {
		n += a.Units
	}
	return n
}
