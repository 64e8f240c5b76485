package connection

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
	"github.com/jgavinray/gpt-oss-executor/sidecar/secrets"
)

// Diff returns the difference between two texts of a config, as diff -u does, with secrets masked; empty: no
// difference. A changed secret gets another number. If a text cannot be parsed, its secrets are unknown, and
// Diff shows nothing.
func Diff(name, format string, before, after []byte) string {
	m := masker{parse: formatOf(format).parse, numbers: map[string]string{}}
	was, err := m.mask(before)
	is, newErr := m.mask(after)
	if err = cmp.Or(err, newErr); err != nil && !bytes.Equal(before, after) {
		return fmt.Sprintf("%s:%v\nno difference is shown, since secrets could not be masked\n", name, err)
	}
	text := string(diff.Diff(name, was, name+" (new)", is))
	_, text, _ = strings.Cut(text, "\n") // "diff A B"
	return text
}

// masker numbers secrets.
type masker struct {
	parse   func(text []byte) (*jsonc.Value, error)
	numbers map[string]string
}

// mask replaces the secrets in a text.
func (m masker) mask(text []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	root, err := m.parse(text)
	if err != nil {
		return nil, err
	}
	var found []*jsonc.Value
	m.eachSecret(root, "", func(v *jsonc.Value) { found = append(found, v) })
	// a table of TOML may go on elsewhere
	slices.SortFunc(found, func(a, b *jsonc.Value) int { return a.Start - b.Start })
	var out strings.Builder
	at := 0
	for _, v := range found {
		out.Write(text[at:v.Start])
		out.WriteString(`"` + m.number(v.Text) + `"`)
		at = v.End
	}
	out.Write(text[at:])
	return []byte(secrets.Forms(out.String(), func(_, secret string) string { return m.number(secret) })), nil
}

func (m masker) number(secret string) string {
	if m.numbers[secret] == "" {
		m.numbers[secret] = fmt.Sprintf("«secret %d»", len(m.numbers)+1)
	}
	return m.numbers[secret]
}

// eachSecret calls for each string whose name is that of a secret.
func (m masker) eachSecret(v *jsonc.Value, name string, is func(v *jsonc.Value)) {
	if v.Kind == jsonc.String && v.Text != "" && v.End > v.Start && secretName.MatchString(name) &&
		!variableName.MatchString(name) && !reference.MatchString(v.Text) {
		is(v)
	}
	for i := range v.Items {
		m.eachSecret(&v.Items[i], name, is)
	}
	for i := range v.Members {
		below := v.Members[i].Key
		if name == "env" || name == "vars" || name == "headers" {
			below = name // what stands there may be secret under any name
		}
		m.eachSecret(&v.Members[i].Value, below, is)
	}
}

var (
	secretName   = regexp.MustCompile(`(?i)(?:key|token|secret|password|passphrase|passwd|credentials?|authorization|cookie|webhook(?:url)?|private|^env|^vars|^headers)s?$`)
	variableName = regexp.MustCompile(`(?i)env_?key$`)
	reference    = regexp.MustCompile(`^\$\{?[A-Z_][A-Z0-9_]*\}?$|^\{env:\w+\}$|^\$\{\{ secrets\.\w+ \}\}$|^file:`)
)
