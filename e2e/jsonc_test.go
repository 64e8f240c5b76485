package e2e

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
)

// asJSON is a value as encoding/json has it; what JSON has no number for is a string.
func asJSON(v *jsonc.Value) any {
	switch v.Kind {
	case jsonc.Bool:
		return v.Text == "true"
	case jsonc.Number:
		if n, _ := v.Float(); !math.IsInf(n, 0) {
			return n
		}
		return strings.Repeat("-", strings.Count(v.Text[:1], "-")) + "Infinity"
	case jsonc.String:
		return v.Text
	case jsonc.Array:
		list := []any{}
		for i := range v.Items {
			list = append(list, asJSON(&v.Items[i]))
		}
		return list
	case jsonc.Object:
		members := map[string]any{}
		for i := range v.Members {
			members[v.Members[i].Key] = asJSON(&v.Members[i].Value)
		}
		return members
	}
	return nil
}

// TestJSON5 holds our reading of JSON with comments to the library with which OpenClaw reads its config:
// what we read is JSON5, and means the same there.
func TestJSON5(t *testing.T) {
	needEnabled(t)
	t.Parallel()
	modules := filepath.Join(install(t, "../testdata/openclaw"), "node_modules")
	pieces := []string{"{", "}", "[", "]", ",", ":", `"a"`, "'b'", "c", "1", "-", "+", "5.", "0x1F", "1e3",
		"1e999", "01", "NaN", "true", "null", " ", "\n", "\r\n", "\r", "\u00a0", "\ufeff", "\u2028",
		"// x\n", "// x\r", "// x", "/* y */", "/*", `"\`, `\n`, `\x41`, `\u00e9`, `\ud83d\ude00`, `\0`, `\1`,
		"\\\n", `"`, "'", "é", "{\"a\":1}", "[2,]", `"__proto__":`}
	texts := []string{`{"a":{"b":[1,{"c":"x"},],},}`, `{"a":1,"a":2,"b":3,"a":4}`, `"\ud83d"`, "\"\u2028\"",
		"\x00", `{"__proto__":{"a":1}}`, ".", "- 1", "truex", "[1 2]", "{,}", "[,]", "/**/1//", "1/**/",
		"\ufeff{}//"}
	r := rand.New(rand.NewSource(1))
	for range 20000 {
		var b strings.Builder
		frame := [][2]string{{"", ""}, {"[", "]"}, {`{"a":`, "}"}, {"{", ":1}"}, {`"`, `"`},
			{"'", "'"}}[r.Intn(6)]
		for range r.Intn(5) {
			b.WriteString(pieces[r.Intn(len(pieces))])
		}
		texts = append(texts, frame[0]+b.String()+frame[1])
	}
	const script = `
		const JSON5 = require(process.argv[1]);
		const show = (k, v) => typeof v === "number" && !Number.isFinite(v) ? String(v) : typeof v === "string" ? v.toWellFormed() : v;
		const texts = JSON.parse(require("fs").readFileSync(0));
		console.log(JSON.stringify(texts.map((t) => { try { return JSON.stringify(JSON5.parse(t), show); } catch { return null; } })));`
	nodes, err := filepath.Glob(filepath.Join(modules, "node-*", "bin", "node"))
	if err != nil || len(nodes) != 1 {
		t.Fatalf("node: %v %v", nodes, err)
	}
	asked, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(nodes[0], "-e", script, filepath.Join(modules, "json5"))
	c.Stdin = bytes.NewReader(asked)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	var want []*string
	if err := json.Unmarshal(out, &want); err != nil || len(want) != len(texts) {
		t.Fatalf("node answers %d of %d: %v", len(want), len(texts), err)
	}
	read := 0
	for i, text := range texts {
		v, err := jsonc.Parse([]byte(text))
		switch {
		case err == nil && want[i] == nil:
			t.Errorf("%q is refused, and we read %v", text, asJSON(v))
		case err == nil:
			read++
			var is any
			if err := json.Unmarshal([]byte(*want[i]), &is); err != nil {
				t.Fatal(err)
			}
			if got := asJSON(v); !reflect.DeepEqual(got, is) {
				t.Errorf("%q is %v, and we read %v", text, is, got)
			}
		}
	}
	if read < 1000 {
		t.Errorf("%d of %d texts are read: nothing is tested", read, len(texts))
	}
}
