// Package built tells what a program was built from: its version, commit and Go, as the Go toolchain
// records them in each binary.
package built

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"time"
)

// Program is the build information of a binary.
type Program struct {
	Version  string // v1.2.3, v0.0.0-20261126002600-1502b1e3f0aa, devel
	Commit   string // "": unknown
	Time     time.Time
	Modified bool // built of uncommitted files
	Go       string
	Platform string // linux/amd64
}

// Of reads the build info of a binary. `go build` in a clone records the commit and a version from the
// nearest tag, `go install …@version` only that version, and a build of bare files neither.
func Of(info *debug.BuildInfo) Program {
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	p := Program{
		Version: info.Main.Version, Commit: setting["vcs.revision"],
		Modified: setting["vcs.modified"] == "true",
		Go:       info.GoVersion, Platform: setting["GOOS"] + "/" + setting["GOARCH"],
	}
	p.Time, _ = time.Parse(time.RFC3339, setting["vcs.time"])
	if p.Version == "" || p.Version == "(devel)" {
		p.Version = "devel"
	}
	if p.Commit == "" { // a version that is no tag ends with its commit
		if m := regexp.MustCompile(`[.-]\d{14}-([0-9a-f]{12})$`).FindStringSubmatch(p.Version); m != nil {
			p.Commit = m[1]
		}
	}
	return p
}

// String returns one line for a person.
func (p Program) String() string {
	commit := "commit not known"
	if p.Commit != "" {
		commit = "commit " + p.Commit[:min(12, len(p.Commit))]
	}
	if p.Modified {
		commit += " and changes"
	}
	return fmt.Sprintf("%s, %s, %s", commit, p.Go, p.Platform)
}

// Version returns the version of this program, or "".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return Of(info).Version
}
