package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The plugin's package has every file that its code imports, and says the version of the release.
func TestPluginPackage(t *testing.T) {
	t.Chdir("../..")
	out := t.TempDir()
	if err := os.Mkdir(filepath.Join(out, "npm"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := release{version: "1.2.3", at: time.Unix(1e9, 0),
		common: []file{{name: "LICENSE", text: []byte("as is"), mode: 0o644}}}
	if err := r.npmPlugin(out); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join(out, "npm", "openclaw-gpt-oss-executor-1.2.3.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(zipped); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if head.Mode != 0o644 && head.Mode != 0o755 {
			t.Errorf("%s has the mode %o, which OpenClaw may not take", head.Name, head.Mode)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(head.Name, "package/")] = string(text)
	}
	for _, name := range []string{"package.json", "openclaw.plugin.json"} {
		if strings.Count(files[name], `"version": "1.2.3"`) != 1 {
			t.Errorf("%s does not say the version: %s", name, files[name])
		}
	}
	sources, err := filepath.Glob("plugin/*.js")
	if err != nil || len(sources) == 0 {
		t.Fatal(err)
	}
	for _, name := range append(sources, "plugin/README.md", "LICENSE") {
		if files[filepath.Base(name)] == "" {
			t.Errorf("%s is not in the package", name)
		}
	}
}
