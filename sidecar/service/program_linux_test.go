package service

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// After the drop less of the program is in memory, and all of it still works.
func TestDropProgram(t *testing.T) {
	words := strings.Fields("what was dropped is read again")
	before := resident(t)
	if err := dropProgram(); err != nil {
		t.Fatal(err)
	}
	after := resident(t)
	if after >= before {
		t.Errorf("%d kB of files before, %d kB after", before, after)
	}
	slices.Sort(words)
	if got := strings.Join(words, " "); got != "again dropped is read was what" {
		t.Error(got)
	}
}

// resident is how much of files is mapped into memory, in kB.
func resident(t *testing.T) int {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "RssFile:"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(text, "kB")))
			if err != nil {
				t.Fatal(err)
			}
			return kb
		}
	}
	t.Fatal("the system does not say it")
	return 0
}
