package walls

import (
	_ "embed" // of the lists
	"os"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/internal/wordlist"
)

// lists are the paths and names that this package knows.
var lists = wordlist.Of(listText)

//go:embed lists.txt
var listText string

// System returns a box with what nearly every command reads and uses. Callers add their own. Its
// /dev/shm is shared with other programs of the same user: Python's multiprocessing does not start
// without it.
func System() Box {
	b := Box{Read: slices.Clone(lists.List("read")), Write: []string{"/dev/shm"},
		Use: slices.Clone(lists.List("use")), Net: NetNone}
	if os.Geteuid() == 0 { // no other user could read these
		b.Deny = slices.Clone(lists.List("deny"))
	}
	return b
}
