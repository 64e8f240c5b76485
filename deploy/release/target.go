package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// name is the name of the program, its archives and packages; confiner is the program that runs confined
// commands.
const name, confiner = "gpt-oss-executor", "gpt-oss-executor-confine"

// target is a system and a processor in Go's terms.
type target struct{ os, arch string }

func targets() []target {
	return []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"},
		{"windows", "amd64"}, {"windows", "arm64"}}
}

// choose returns the named targets, or all.
func choose(only string) (out []target, err error) {
	if only == "" {
		return targets(), nil
	}
	for word := range strings.SplitSeq(only, ",") {
		system, arch, _ := strings.Cut(word, "/")
		t := target{system, arch}
		if !slices.Contains(targets(), t) {
			return nil, fmt.Errorf("no release is built for %q; one of: %v", word, targets())
		}
		out = append(out, t)
	}
	return out, nil
}

func (t target) String() string { return t.os + "/" + t.arch }

// binary returns the file name of a program.
func (t target) binary(program string) string {
	if t.os == "windows" {
		return program + ".exe"
	}
	return program
}

// npm returns system and processor in Node's terms.
func (t target) npm() (platform, cpu string) {
	platform, cpu = t.os, t.arch
	if platform == "windows" {
		platform = "win32"
	}
	if cpu == "amd64" {
		cpu = "x64"
	}
	return platform, cpu
}

// environ returns the environment of the Go command, independent of the caller's.
func (t target) environ() []string {
	return append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off")
}

// build builds a program for a target.
func (r *release) build(t target, program, folder string) (path string, info *debug.BuildInfo, err error) {
	path = filepath.Join(r.tmp, t.os+"-"+t.arch, t.binary(program))
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=auto", "-ldflags=-s -w", "-o", path, folder)
	c.Env, c.Stderr = t.environ(), os.Stderr
	if err := c.Run(); err != nil {
		return "", nil, fmt.Errorf("build: %w", err)
	}
	info, err = buildinfo.ReadFile(path)
	return path, info, err
}

// confiner builds the program that runs confined commands, from packages of the main one.
func (r *release) confiner(t target, used []dependency) (file, error) {
	path, info, err := r.build(t, confiner, "./cmd/"+confiner)
	if err == nil {
		err = covers(used, info)
	}
	if err != nil {
		return file{}, err
	}
	binary, err := os.ReadFile(path)
	return file{name: t.binary(confiner), text: binary, mode: 0o755}, err
}

// target writes the archive of a target, its bill of materials, and its package for npm.
func (r *release) target(out string, t target) error {
	path, info, err := r.build(t, name, ".")
	if err != nil {
		return err
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	used, err := dependencies(t)
	if err != nil {
		return err
	}
	if err := covers(used, info); err != nil {
		return err
	}
	own := []file{
		{name: t.binary(name), text: binary, mode: 0o755},
		{name: thirdParty, text: texts(used), mode: 0o644},
	}
	if t.os != "windows" { // which confines nothing
		small, err := r.confiner(t, used)
		if err != nil {
			return err
		}
		own = append(own, small)
	}
	base := fmt.Sprintf("%s_%s_%s_%s", name, r.version, t.os, t.arch)
	pack, ending := tarball, ".tar.gz"
	if t.os == "windows" {
		pack, ending = zipped, ".zip"
	}
	archive, err := pack(base, slices.Concat(r.common, own), r.at)
	if err != nil {
		return err
	}
	bill, err := r.bill(t, info, used, binary)
	if err != nil {
		return fmt.Errorf("SBOM: %w", err)
	}
	packed, err := r.npmTarget(t, own)
	if err != nil {
		return fmt.Errorf("npm: %w", err)
	}
	return writeAll(out, file{name: base + ending, text: archive}, file{name: base + ".cdx.json", text: bill},
		packed)
}
