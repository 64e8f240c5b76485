package servers

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"testing"
)

// Zip packs files: a name, its text, the next name.
func Zip(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		must(t, err)
		_, err = w.Write([]byte(files[i+1]))
		must(t, err)
	}
	must(t, z.Close())
	return b.Bytes()
}

// Wheel is the package tiny, 1.0, as pip installs it: in it x is 1.
func Wheel(t testing.TB) []byte {
	t.Helper()
	return Zip(t, "tiny.py", "x = 1\n", "tiny-1.0.dist-info/METADATA",
		"Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
		"tiny-1.0.dist-info/WHEEL",
		"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"tiny-1.0.dist-info/RECORD", "")
}

// Tarball is the package tiny, 1.0.0, as npm installs it: in it x is 1.
func Tarball(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	tape := tar.NewWriter(z)
	for _, file := range [][2]string{{"package.json", `{"name":"tiny","version":"1.0.0"}`},
		{"index.js", "exports.x = 1\n"}} {
		must(t, tape.WriteHeader(&tar.Header{Name: "package/" + file[0], Mode: 0o644,
			Size: int64(len(file[1]))}))
		_, err := tape.Write([]byte(file[1]))
		must(t, err)
	}
	must(t, tape.Close())
	must(t, z.Close())
	return b.Bytes()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
