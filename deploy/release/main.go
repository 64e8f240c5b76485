// Command release builds what users download: the program for each system with its manual pages, completion
// and licences, packages for npm, a bill of materials of each binary, and checksums. The same commit and
// the same Go give the same bytes. It publishes nothing, and needs the network only for Go modules.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/built"
)

func main() {
	var r release
	only := flag.String("only", "", "the `TARGETS` to build, such as linux/amd64,windows/amd64; empty: all")
	flag.StringVar(&r.out, "out", "dist", "the `FOLDER` for what is made; one that is there is replaced")
	flag.BoolVar(&r.trial, "trial", false,
		"take a tree with changes, or without git: a trial, not to be published")
	flag.Parse()
	err := r.run(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one run.
type release struct {
	out     string
	trial   bool
	tmp     string
	program built.Program
	version string    // such as 1.2.3, for file names and npm
	at      time.Time // time of all files
	common  []file    // files of each archive
}

// run builds everything in a new folder, and moves it into place when it is complete.
func (r *release) run(only string) (err error) {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	if r.tmp, err = os.MkdirTemp("", "release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.tmp)) }()
	if err := r.prepare(); err != nil {
		return err
	}
	made := r.out + ".new"
	if err := errors.Join(os.RemoveAll(made), os.MkdirAll(filepath.Join(made, "npm"), 0o755)); err != nil {
		return err
	}
	for _, t := range chosen {
		fmt.Println(t)
		if err := r.target(made, t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := r.npmMain(made, chosen); err != nil {
		return fmt.Errorf("npm: %w", err)
	}
	if err := r.npmPlugin(made); err != nil {
		return fmt.Errorf("plugin: %w", err)
	}
	if err := checksums(made); err != nil {
		return err
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	return os.Rename(made, r.out)
}

// prepare builds the program for this machine, which reports its version and writes the pages.
func (r *release) prepare() error {
	binary, info, err := r.build(target{runtime.GOOS, runtime.GOARCH}, name, ".")
	if err != nil {
		return err
	}
	r.program = built.Of(info)
	switch {
	case r.trial:
	case r.program.Version == "devel":
		return errors.New("the version is not known: a release is built in a clone with git, not in a worktree or of bare files; -trial builds one to look at")
	case r.program.Modified:
		return errors.New("there are files that no commit holds; git status names them, -trial builds with them to look at")
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(r.program.Version, "v"), "+")
	if r.version = number; r.program.Version == "devel" {
		r.version = "0.0.0-devel"
	}
	if r.at, err = dated(os.Getenv("SOURCE_DATE_EPOCH"), r.program.Time); err != nil {
		return err
	}
	return r.pages(binary)
}

// dated returns the time of all files: SOURCE_DATE_EPOCH or the time of the commit.
func dated(epoch string, commit time.Time) (time.Time, error) {
	if epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil || seconds < 315619200 { // the range of zip
			return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q; it takes seconds since 1970, from 1980 on", epoch)
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	if commit.IsZero() {
		commit = time.Date(1980, 1, 2, 0, 0, 0, 0, time.UTC)
	}
	return commit.UTC(), nil
}

// pages collects the program's documentation and the other files of each archive.
func (r *release) pages(binary string) error {
	pages := filepath.Join(r.tmp, "man")
	if out, err := exec.Command(binary, "man", "--dir", pages).CombinedOutput(); err != nil {
		return fmt.Errorf("write manual pages: %w: %s", err, out)
	}
	entries, err := os.ReadDir(pages)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := r.take("man/man1/"+e.Name(), filepath.Join(pages, e.Name())); err != nil {
			return err
		}
	}
	for shell, name := range map[string]string{"bash": "gpt-oss-executor.bash", "zsh": "_gpt-oss-executor",
		"fish": "gpt-oss-executor.fish", "powershell": "gpt-oss-executor.ps1"} {
		text, err := exec.Command(binary, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("completion for %s: %w", shell, err)
		}
		r.common = append(r.common, file{name: "completions/" + name, text: text, mode: 0o644})
	}
	for _, name := range []string{"LICENSE", "README.md", "deploy/config.yaml",
		"deploy/gpt-oss-executor.service"} {
		if err := r.take(filepath.Base(name), name); err != nil {
			return err
		}
	}
	return nil
}

// take adds a file to each archive.
func (r *release) take(name, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	r.common = append(r.common, file{name: name, text: text, mode: 0o644})
	return nil
}
