package program

import "testing"

// Programs that do little, and one that nobody knows.
func TestBuiltins(t *testing.T) {
	effectsAre(t, []effectCase{
		{". x.sh a", "read(x.sh) code:x.sh"},
		{"date +%s", ""},
		{"date -s 1", "#admin"},
		{"date --se=1", "#admin"},
		{"date -f dates", "read(dates)"},
		{"date +%F", ""},
		{"dmesg -C", "#admin"},
		{"dmesg", ""},
		{"domainname", ""},
		{"echo rm -rf /", ""},
		{"echo <?>", ""},
		{"hostname", ""},
		{"hostname x", "#admin"},
		{"hostname -F name", "read(name) #admin exec:-F"},
		{"lsblk -o NAME", ""},
		{"printenv", "#dump-env"},
		{"printenv HOME", ""},
		{"printenv -0", "#dump-env"},
		{"ps aux", ""},
		{"ps auxe", "#dump-env"},
		{"ps -eo pid,args", ""},
		{"ps -ef", ""},
		{"ps", ""},
		{"ps e", "#dump-env"},
		{"ps aux -e", ""},
		{"pv -o out a", "write(out) read(a)"},
		{"set -e", ""},
		{"source x.sh", "read(x.sh) code:x.sh"},
		{"true", ""},
		{"uname -a", ""},
		{"unheard -rf x", "unknown"},
		{"wall hi", "#send"},
	})
}
