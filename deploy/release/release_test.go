package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// One target, twice: every byte is the same, and what was made is whole.
func TestTheSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("links the program four times; there is one goroutine")
	}
	t.Chdir("../..")
	here := runtime.GOOS + "/" + runtime.GOARCH
	if _, err := choose(here); err != nil {
		t.Skip("SKIPPED: ", err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1770000000")
	var sums [2]string
	var out string
	for i := range sums {
		out = filepath.Join(t.TempDir(), "dist")
		if err := (&release{out: out, trial: true}).run(here); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = string(text)
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != 5 {
		t.Errorf("the first time\n%sthe second time\n%s", sums[0], sums[1])
	}
	bills, err := filepath.Glob(filepath.Join(out, "*.cdx.json"))
	if err != nil || len(bills) != 1 {
		t.Fatalf("lists of parts: %v, %v", bills, err)
	}
	text, err := os.ReadFile(bills[0])
	if err != nil {
		t.Fatal(err)
	}
	var b bom
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	if len(b.Components) < 15 || b.Metadata.Timestamp != "2026-02-02T02:40:00Z" ||
		len(b.Dependencies[0].On) != len(b.Components) {
		t.Errorf("the list of parts has %d parts of %s", len(b.Components), b.Metadata.Timestamp)
	}
	for _, want := range []string{"pkg:golang/github.com/spf13/cobra@v1.", "pkg:golang/std@1."} {
		if !slices.ContainsFunc(b.Components,
			func(c component) bool {
				return strings.HasPrefix(c.PURL, want) && c.Licences[0].Expression != ""
			}) {
			t.Errorf("the list of parts has no %s", want)
		}
	}
}

func TestArchives(t *testing.T) {
	files := []file{{"b/two", []byte("22"), 0o755}, {"a", []byte("1"), 0o644}}
	at := time.Date(2026, 3, 4, 5, 6, 8, 0, time.UTC)
	for kind, pack := range map[string]func(string, []file, time.Time) ([]byte, error){"tar": tarball,
		"zip": zipped} {
		one, err := pack("x", files, at)
		if err != nil {
			t.Fatal(err)
		}
		two, err := pack("x", []file{files[1], files[0]}, at)
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s depends on the order of files: %v", kind, err)
		}
	}
	text, _ := tarball("x", files, at)
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(z)
	for _, want := range sorted(files) {
		head, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if head.Name != "x/"+want.name || head.Mode != int64(want.mode) || head.Uid != 0 ||
			head.Uname != "" || !head.ModTime.Equal(at) || !bytes.Equal(got, want.text) {
			t.Errorf("%+v holds %q, %v", head, got, err)
		}
	}
	text, _ = zipped("x", files, at)
	in, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil || len(in.File) != 2 {
		t.Fatalf("the zip holds %d files: %v", len(in.File), err)
	}
	if f := in.File[1]; f.Name != "x/b/two" || f.Mode() != 0o755 || !f.Modified.Equal(at) {
		t.Errorf("the zip holds %+v", f.FileHeader)
	}
}

func TestChoose(t *testing.T) {
	for only, want := range map[string]int{"": 6, "linux/arm64": 1, "windows/amd64,darwin/arm64": 2} {
		if got, err := choose(only); err != nil || len(got) != want {
			t.Errorf("%q: %v, %v", only, got, err)
		}
	}
	for _, only := range []string{"linux", "plan9/amd64", "linux/amd64,", "linux/amd64/x"} {
		if got, err := choose(only); err == nil || !strings.Contains(err.Error(), "one of: [linux/amd64") {
			t.Errorf("%q: %v, %v", only, got, err)
		}
	}
	if p, c := (target{"windows", "amd64"}).npm(); p != "win32" || c != "x64" {
		t.Errorf("npm calls it %s %s", p, c)
	}
}

func TestDated(t *testing.T) {
	commit := time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", 3600))
	for _, c := range []struct {
		epoch  string
		commit time.Time
		want   string
	}{
		{"", commit, "2026-03-04T04:06:07Z"},
		{"1770000000", commit, "2026-02-02T02:40:00Z"},
		{"", time.Time{}, "1980-01-02T00:00:00Z"},
		{"0", commit, ""},
		{"today", commit, ""},
	} {
		got, err := dated(c.epoch, c.commit)
		if c.want == "" && err == nil || c.want != "" && got.Format(time.RFC3339) != c.want {
			t.Errorf("%q, %v: %v, %v", c.epoch, c.commit, got, err)
		}
	}
}

func TestSPDX(t *testing.T) {
	const mit, bsd = "Permission is hereby granted, free of\n charge, to any person obtaining", "Redistribution and use in source and binary forms, with or without"
	for _, c := range []struct {
		name  string
		texts map[string]string
		want  string
	}{
		{"MIT", map[string]string{"LICENSE": mit}, "MIT"},
		{"two clauses", map[string]string{"LICENSE": bsd}, "BSD-2-Clause"},
		{"three clauses", map[string]string{"LICENSE": bsd + " … Neither the name of"}, "BSD-3-Clause"},
		{"two licences in a file", map[string]string{"LICENSE": mit + " … Apache License, Version 2.0"}, "Apache-2.0 AND MIT"},
		{"two files", map[string]string{"LICENSE": mit, "sub/LICENSE": bsd}, "BSD-2-Clause AND MIT"},
		{"a notice beside it", map[string]string{"LICENSE": mit, "NOTICE": "Made by us", "PATENTS": "We grant"}, "MIT"},
		{"MPL", map[string]string{"LICENSE": "Mozilla Public License, version 2.0"}, "MPL-2.0"},
		{"GPL", map[string]string{"COPYING": "GNU General Public License"}, ""},
		{"GPL below", map[string]string{"LICENSE": mit, "sub/COPYING": "GNU General Public License"}, ""},
		{"a notice alone", map[string]string{"NOTICE": "Made by us"}, ""},
		{"none", nil, ""},
	} {
		got, err := spdx(c.texts)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

// A module that is in a binary, and whose licence is not known, stops the release.
func TestCovers(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	info.Deps = append(info.Deps, &info.Main)
	if err := covers(nil, info); err == nil || !strings.Contains(err.Error(), "its licence was not found") {
		t.Errorf("%v", err)
	}
	if err := covers([]dependency{{path: info.Main.Path, version: info.Main.Version}}, info); err != nil {
		t.Errorf("%v", err)
	}
}

// The package that users name and the targets agree.
func TestTemplate(t *testing.T) {
	t.Chdir("../..")
	m, err := template()
	if err != nil {
		t.Fatal(err)
	}
	wrapper, err := os.ReadFile(filepath.Join("deploy/npm", m.Bin[name]))
	if err != nil || !bytes.HasPrefix(wrapper, []byte("#!/usr/bin/env node\n")) ||
		!bytes.Contains(wrapper, []byte("`"+scope+"${process.platform}")) {
		t.Errorf("the program of package.json does not name the packages of targets: %v", err)
	}
	if m.Name != name || !slices.Equal(m.Files, []string{m.Bin[name]}) {
		t.Errorf("package.json is %+v", m)
	}
}
