package connection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/jgavinray/gpt-oss-executor/internal/json5"
	"github.com/jgavinray/gpt-oss-executor/internal/lazyregexp"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// Diff shows what changes between two texts of a config in a format, as diff -u does, with every
// secret masked. A secret that changes gets another number. It is empty if nothing changes.
func Diff(name, format string, before, after []byte) string {
	m := masker{parse: formatOf(format).parse, numbers: map[string]string{}}
	text := string(diff.Diff(name, m.masked(before), name+" (new)", m.masked(after)))
	_, text, _ = strings.Cut(text, "\n") // "diff A B"
	return text
}

// masker gives each secret a number.
type masker struct {
	parse   func(text []byte) (*json5.Value, error)
	numbers map[string]string
}

// masked is a text without its secrets.
func (m masker) masked(text []byte) []byte {
	root, err := m.parse(text)
	if err != nil {
		root = &json5.Value{}
	}
	var found []*json5.Value
	m.each(root, "", func(v *json5.Value) { found = append(found, v) })
	slices.SortFunc(found, func(a, b *json5.Value) int { return a.Start - b.Start }) // a table of TOML may go on elsewhere
	var out strings.Builder
	at := 0
	for _, v := range found {
		out.Write(text[at:v.Start])
		out.WriteString(`"` + m.number(v.Text) + `"`)
		at = v.End
	}
	out.Write(text[at:])
	return []byte(secrets.Forms(out.String(), func(_, secret string) string { return m.number(secret) }))
}

func (m masker) number(secret string) string {
	if m.numbers[secret] == "" {
		m.numbers[secret] = fmt.Sprintf("«secret %d»", len(m.numbers)+1)
	}
	return m.numbers[secret]
}

// each calls with every string that is a secret by its name.
func (m masker) each(v *json5.Value, name string, is func(v *json5.Value)) {
	if v.Kind == json5.String && v.Text != "" && v.End > v.Start && secretName().MatchString(name) && !variableName().MatchString(name) && !reference().MatchString(v.Text) {
		is(v)
	}
	for i := range v.Items {
		m.each(&v.Items[i].Value, name, is)
	}
	for i := range v.Members {
		below := v.Members[i].Key
		if name == "env" || name == "vars" || name == "headers" {
			below = name // what stands there may be secret under any name
		}
		m.each(&v.Members[i].Value, below, is)
	}
}

var (
	secretName   = lazyregexp.New(`(?i)(?:key|token|secret|password|passphrase|passwd|credentials?|authorization|cookie|webhook(?:url)?|private|^env|^vars|^headers)s?$`)
	variableName = lazyregexp.New(`(?i)env_?key$`)
	reference    = lazyregexp.New(`^\$\{?[A-Z_][A-Z0-9_]*\}?$|^\{env:\w+\}$|^\$\{\{ secrets\.\w+ \}\}$|^file:`)
)
