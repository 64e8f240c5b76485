package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// thirdParty is the file of an archive with the licences of the binary's parts.
const thirdParty = "THIRD_PARTY_LICENSES.txt"

// standard is the path of Go's standard library in lists of vulnerabilities.
const standard = "std"

// dependency is a module that is linked into a binary.
type dependency struct {
	path, version string
	spdx          string            // MIT, or MIT AND Apache-2.0
	texts         map[string]string // file in the module → text
}

// listed is a package in the output of go list.
type listed struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// dependencies returns the modules of a target's packages and Go itself, with the licences in the folders
// of these packages and above.
func dependencies(t target) ([]dependency, error) {
	c := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", ".")
	c.Env, c.Stderr = t.environ(), os.Stderr
	doc, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	root, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	env := strings.Split(string(root), "\n")
	goroot, goversion := strings.TrimSpace(env[0]), strings.TrimSpace(env[1])
	found := map[string]*dependency{standard: {path: standard, version: strings.TrimPrefix(goversion, "go"),
		texts: map[string]string{}}}
	if err := found[standard].read(goroot, goroot); err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(doc)); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		if p.Standard || p.Module == nil || p.Module.Main {
			continue
		}
		d := found[p.Module.Path]
		if d == nil {
			d = &dependency{path: p.Module.Path, version: p.Module.Version, texts: map[string]string{}}
			found[p.Module.Path] = d
		}
		if err := d.read(p.Module.Dir, p.Dir); err != nil {
			return nil, err
		}
	}
	var out []dependency
	for _, d := range found {
		if d.spdx, err = spdx(d.texts); err != nil {
			return nil, fmt.Errorf("%s %s: %w", d.path, d.version, err)
		}
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b dependency) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// read reads the licences in a folder of a module and above.
func (d *dependency) read(module, dir string) error {
	licence := regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)([.-].*)?$`)
	for ; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("read licences: %w", err)
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !licence.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return fmt.Errorf("read licences: %w", err)
			}
			inside, err := filepath.Rel(module, filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			d.texts[filepath.ToSlash(inside)] = strings.ReplaceAll(string(text), "\r\n", "\n")
		}
		if dir == module || len(dir) <= len(module) {
			return nil
		}
	}
}

// spdx identifies licences by characteristic words. Each must be one that the project accepts.
func spdx(texts map[string]string) (string, error) {
	var ids []string
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		words := strings.Join(strings.Fields(texts[name]), " ")
		n := len(ids)
		for _, l := range []struct{ id, has string }{
			{"Apache-2.0", "Apache License"},
			{"MIT", "Permission is hereby granted, free of charge, to any person"},
			{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose"},
			{"MPL-2.0", "Mozilla Public License, version 2.0"},
			{"MPL-2.0", "Mozilla Public License Version 2.0"},
		} {
			if strings.Contains(words, l.has) {
				ids = append(ids, l.id)
			}
		}
		if strings.Contains(words, "Redistribution and use in source and binary forms") {
			bsd := "BSD-2-Clause"
			if strings.Contains(words, "Neither the name") {
				bsd = "BSD-3-Clause"
			}
			ids = append(ids, bsd)
		}
		if base := strings.ToLower(filepath.Base(name)); len(ids) == n &&
			!strings.HasPrefix(base, "notice") && !strings.HasPrefix(base, "patents") &&
			!strings.HasPrefix(base, "copyright") {
			return "", fmt.Errorf("%s is none of MIT, BSD, Apache-2.0, ISC, MPL-2.0", name)
		}
	}
	if len(ids) == 0 {
		return "", errors.New("it has no licence")
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " AND "), nil
}

// covers checks that the licences of every module of a binary are known.
func covers(used []dependency, info *debug.BuildInfo) error {
	for _, m := range info.Deps {
		m = cmp.Or(m.Replace, m)
		if !slices.ContainsFunc(used,
			func(d dependency) bool { return d.path == m.Path && d.version == m.Version }) {
			return fmt.Errorf("%s %s is in the binary, and its licence was not found", m.Path, m.Version)
		}
	}
	return nil
}

// texts returns THIRD_PARTY_LICENSES.txt.
func texts(used []dependency) []byte {
	var b bytes.Buffer
	b.WriteString("The program contains the modules below, and Go's own library (std). Their source is what\npath and version name, as for: go mod download PATH@VERSION. These are their licences.\n")
	for _, d := range used {
		for _, name := range slices.Sorted(maps.Keys(d.texts)) {
			fmt.Fprintf(&b, "\n%s\n%s %s: %s (%s)\n%s\n\n%s\n", rule, d.path, d.version, name, d.spdx, rule,
				strings.TrimSpace(d.texts[name]))
		}
	}
	return b.Bytes()
}

const rule = "================================================================================"
