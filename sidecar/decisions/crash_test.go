//go:build unix

package decisions

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A child is this test program again, which writes into the folder CHILD_DIR until it
// is killed, or until the disk is full and empty again.
const (
	childDir  = "CHILD_DIR"
	childDisk = "CHILD_DISK" // bytes of a file until its disk is full
)

func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := child(dir, os.Getenv(childDisk)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(dir, disk string) error {
	// What is told must be written, however long the disk takes.
	l, err := Open(Config{Dir: dir, HeadRecords: 7, SegmentBytes: 32 << 10, Wait: time.Minute})
	if err != nil {
		return err
	}
	if disk == "" {
		for i := 0; ; i++ {
			if err := l.Add(decision(i)); err != nil {
				return err
			}
			fmt.Println(i)
		}
	}
	n, err := strconv.ParseUint(disk, 10, 64)
	if err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	before := limit.Cur
	for _, limit.Cur = range []uint64{n, before} {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		for i := range 50 {
			if err := l.Add(decision(i)); err != nil {
				return err
			}
		}
	}
	fmt.Println(l.Stats().Lost, l.Stats().Failed)
	return l.Close()
}

func childCommand(dir, disk string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childDir+"="+dir, childDisk+"="+disk)
	return c
}

// count is how many decisions a log holds.
func count(t testing.TB, dir string) (n int) {
	t.Helper()
	err := Read(dir, func(r *Record, err error) bool {
		if err != nil {
			t.Error(err)
		}
		if r.Decision != nil {
			n++
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A process that is killed while it writes loses nothing that it was told is written,
// time and again.
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	acknowledged := 0
	for round := range 6 {
		c := childCommand(dir, "")
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			acknowledged++
			if n == 40+round*17 {
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = c.Wait() // it was killed
		if n := count(t, dir); n < acknowledged {
			t.Fatalf("round %d: %d decisions in the log, %d were acknowledged", round, n, acknowledged)
		}
		l := open(t, Config{Dir: dir})
		shut(t, l)
		mustBeGood(t, dir)
	}
}

// Where a file ends in the middle of a record, that record is set aside and everything
// before stays; where it ends before the head, nobody goes on.
func TestEveryCrash(t *testing.T) {
	cfg := Config{Dir: filepath.Join(t.TempDir(), "log"), SegmentBytes: 1700, HeadRecords: 100}
	l := open(t, cfg)
	for range 8 {
		_ = l.Add(Decision{Tool: "x"})
	}
	crashed := filepath.Join(t.TempDir(), "crashed")
	if err := os.CopyFS(crashed, os.DirFS(cfg.Dir)); err != nil {
		t.Fatal(err)
	}
	shut(t, l)
	list, err := segments(crashed)
	if err != nil || len(list) < 2 {
		t.Fatal(err, len(list))
	}
	last := list[len(list)-1]
	text, err := os.ReadFile(last.path)
	if err != nil {
		t.Fatal(err)
	}
	whole := count(t, crashed) - bytes.Count(text, []byte("\n"))
	if head, err := readHead(crashed); err != nil || head.Seq >= last.first {
		t.Fatalf("the head stands in the last file already: %v, %v", head, err)
	}
	for at := range len(text) + 1 {
		near := min(at, len(text)-1)
		if at%11 != 0 && !bytes.ContainsAny(text[max(0, near-2):near+1], "\n") {
			continue // all ends look alike but those around the end of a line
		}
		dir := filepath.Join(t.TempDir(), "log")
		if err := os.CopyFS(dir, os.DirFS(crashed)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, dirMode); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, filepath.Base(last.path)), text[:at])
		cfg.Dir = dir
		l, err := Open(cfg)
		if err != nil {
			t.Fatalf("cut at byte %d: %v", at, err)
		}
		shut(t, l)
		mustBeGood(t, dir)
		if n, want := count(t, dir), whole+bytes.Count(text[:at], []byte("\n")); n != want {
			t.Errorf("cut at byte %d: %d decisions, want %d", at, n, want)
		}
		aside, err := filepath.Glob(filepath.Join(dir, "unfinished-*"))
		unfinished := at > 0 && text[at-1] != '\n'
		if err != nil || (len(aside) == 1) != unfinished {
			t.Errorf("cut at byte %d: set aside %v", at, aside)
		}
	}
}

// Where the disk was full when a segment ended, the head stands further back, and the next
// segment is empty. That is no cut; a damaged segment before it is one.
func TestEmptySegment(t *testing.T) {
	dir, file, text := small(t)
	lines := bytes.SplitAfter(text, []byte("\n"))
	second, err := parse(bytes.TrimSpace(lines[1]))
	if err != nil {
		t.Fatal(err)
	}
	head := fmt.Appendf(nil, `{"seq":2,"hash":%q}`, second.Hash)
	next := segmentPath(dir, uint64(len(lines)))
	write(t, filepath.Join(dir, headFile), head)
	write(t, next)
	write(t, file, text[:len(text)-1])
	if _, err := Open(Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), "decisions verify") {
		t.Errorf("it goes on behind a cut: %v", err)
	}
	write(t, file, text)
	shut(t, open(t, Config{Dir: dir}))
	mustBeGood(t, dir)
	if n := count(t, dir); n != 5 {
		t.Errorf("%d decisions, want 5", n)
	}
}

func TestCutBeforeTheHead(t *testing.T) {
	dir, file, text := small(t)
	for at := 0; at < len(text); at += 13 {
		write(t, file, text[:at])
		_, err := Open(Config{Dir: dir})
		if err == nil || !strings.Contains(err.Error(), "decisions verify") {
			t.Fatalf("cut at byte %d: %v", at, err)
		}
		if got, _ := os.ReadFile(file); !bytes.Equal(got, text[:at]) {
			t.Fatalf("cut at byte %d: Open changed the file", at)
		}
	}
	write(t, file, text)
	if err := os.Remove(filepath.Join(dir, headFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "head.json is missing") {
		t.Errorf("without its head: %v", err)
	}
}

// A full disk loses records, says so, and leaves a log that is whole.
func TestDiskFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	out, err := childCommand(dir, "9000").Output()
	var lost, failed uint64
	if _, scan := fmt.Sscan(string(out), &lost, &failed); err != nil || scan != nil || lost == 0 ||
		failed == 0 {
		t.Fatalf("%v %v %q", err, scan, out)
	}
	r := mustBeGood(t, dir)
	if n := count(t, dir); r.Lost != lost || n != 100-int(lost) {
		t.Errorf("%d decisions, %d lost, and the log says %d", n, lost, r.Lost)
	}
}
