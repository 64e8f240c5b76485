package live_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// mistakes are what people save by accident: file and text.
var mistakes = [...][2]string{
	{"aliases.yaml", ""},
	{"aliases.yaml", "version: 1\ninclude: [builtin/aliases.yaml]\ntools: {probe: [x]\n"},
	{"models.yaml", "version: 1\nmodels:\n  - {id: gpt-oss, about: All., mode: provder}\n"},
	{"limits.yaml", "version: 1\ninclude: [builtin/limits.yaml]\nsize: {text: 12}\n"},
	{"strategies.yaml", "version: 1\ninclude: [builtin/strategies.yaml]\nstrategies:\n  - {id: markers, when: naem == 1}\n"},
	{"aliases.yaml", "version: 1\ninclude: [builtin/aliases.yaml]\nhit: [{name: x, tools: [y], gives: y}]\n"},
	{"strategies.yaml", "version: 1\ninclude: [packs/none.yaml]\n"},
}

// The ways to save. Each leaves the folder as e.now says.

func (e *editing) each(save func(path string, text []byte)) {
	for _, name := range slices.Sorted(maps.Keys(e.now)) {
		path := filepath.Join(e.dir, name)
		if was, err := os.ReadFile(path); err != nil || string(was) != e.now[name] {
			save(path, []byte(e.now[name]))
		}
	}
}

// step does one step of a save. What the step before it left was there no longer than from the
// start of that one to the end of this one.
func (e *editing) step(do func() error) {
	began := time.Now()
	ruletest.Must(e.t, do())
	if !e.stepped.IsZero() && time.Since(e.stepped) > settles || time.Since(began) > settles {
		e.stalled++
	}
	e.stepped = began
}

func (e *editing) write() {
	e.each(func(path string, text []byte) {
		e.step(func() error { return os.WriteFile(path, text, 0o644) })
	})
}

func (e *editing) rename() {
	e.each(func(path string, text []byte) {
		ruletest.Must(e.t, os.WriteFile(path+".tmp", text, 0o644))
		e.step(func() error { return os.Rename(path+".tmp", path) })
	})
}

func (e *editing) chunks() {
	e.each(func(path string, text []byte) {
		var f *os.File
		e.step(func() (err error) { f, err = os.Create(path); return err })
		for piece := range slices.Chunk(text, len(text)/3+1) {
			e.step(func() error { _, err := f.Write(piece); return err })
			time.Sleep(5 * time.Millisecond) // an editor that writes in pieces
		}
		ruletest.Must(e.t, f.Close())
	})
}

// swapLinks is what Kubernetes does with a ConfigMap.
func (e *editing) swapLinks() {
	was, _ := os.Readlink(filepath.Join(e.dir, "..data"))
	next := fmt.Sprintf("..%d", time.Now().UnixNano())
	ruletest.Must(e.t, os.MkdirAll(filepath.Join(e.dir, next), 0o755))
	for name, text := range e.now {
		ruletest.Must(e.t, os.WriteFile(filepath.Join(e.dir, next, name), []byte(text), 0o644))
	}
	ruletest.Must(e.t, os.Symlink(next, filepath.Join(e.dir, "..tmp")))
	ruletest.Must(e.t, os.Rename(filepath.Join(e.dir, "..tmp"), filepath.Join(e.dir, "..data")))
	if was != "" {
		ruletest.Must(e.t, os.RemoveAll(filepath.Join(e.dir, was)))
	}
}
