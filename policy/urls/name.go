package urls

import (
	_ "embed" // of the lists
	"strings"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/wordlist"
)

// lists are the hosts, addresses and ports that this package knows.
var lists = wordlist.Of(listText)

//go:embed lists.txt
var listText string

const (
	longName = 100 // longest usual name in bytes
	longPart = 20  // letters and digits in a row that are no word
)

// isName reports whether a lower-case s can be a host name. Letters beyond a to z are refused: programs map
// them to different names.
func isName(s string) bool {
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := 0; i < len(label); i++ {
			if !nameByte(label[i]) {
				return false
			}
		}
	}
	return true
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// longRun reports whether a label has a run of letters and digits that looks like data.
func longRun(label string) bool {
	for part := range strings.FieldsFuncSeq(label, func(r rune) bool { return r == '-' || r == '_' }) {
		if len(part) >= longPart {
			return true
		}
	}
	return false
}

// nameClass returns the class of a name before it is resolved.
func nameClass(name string) string {
	names, zones := knownNames()
	if c := names[name]; c != "" {
		return c
	}
	_, zone, long := strings.Cut(name, ".")
	for more := long; more; _, zone, more = strings.Cut(zone, ".") {
		if c := zones[zone]; c != "" {
			return c
		}
	}
	if !long || zones[name] != "" {
		return Private // a short name: the search list of the network decides what it is
	}
	return Public
}

// knownNames returns hosts and zones of a fixed class.
var knownNames = sync.OnceValues(func() (names, zones map[string]string) {
	names, zones = map[string]string{}, map[string]string{}
	for _, class := range []string{Loopback, Metadata, Private} {
		for _, host := range lists.List(class) {
			names[host] = class
		}
		for _, zone := range lists.List("below-" + class) {
			zones[zone] = class
		}
	}
	return names, zones
})
