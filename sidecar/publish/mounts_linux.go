package publish

import (
	"os"
	"strings"
)

// octal is how the kernel writes what would break a line of mountinfo.
var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// mounts are the places where something is mounted, nil where nobody tells.
func mounts() (at []string) {
	doc, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil // a mount then shows when its folder cannot be renamed
	}
	for line := range strings.Lines(string(doc)) {
		if f := strings.Fields(line); len(f) > 4 {
			at = append(at, octal.Replace(f[4]))
		}
	}
	return at
}
