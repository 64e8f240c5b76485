package notation

import (
	"net/url"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
)

// form reads the encoding of forms and of queries in URLs: city=S%C3%A3o+Paulo&unit=celsius. A + is a
// blank only where something else shows that the text was encoded.
func form(s string) []string {
	s = strings.TrimPrefix(strings.TrimSpace(s), "?")
	if strings.IndexFunc(s, func(r rune) bool { return !inForm(r) }) >= 0 ||
		strings.Contains(s, "+") && (!strings.Contains(s, "%") || strings.Contains(s, "%20")) {
		return nil
	}
	var members []string
	for _, pair := range strings.Split(s, "&") {
		key, value, ok := strings.Cut(pair, "=")
		key, keyErr := url.QueryUnescape(key)
		value, valueErr := url.QueryUnescape(value)
		if !ok || key == "" || strings.Contains(pair[strings.IndexByte(pair, '=')+1:], "=") ||
			keyErr != nil || valueErr != nil {
			return nil
		}
		members = append(members, key, value)
	}
	return []string{jsontext.Object(members...)}
}

// inForm reports whether r can stand in a form that was encoded.
func inForm(r rune) bool {
	return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.~*!'()%+&=", r)
}
