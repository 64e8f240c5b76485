package connection

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	before := `{
  "gateway": { "auth": { "token": "abc" } },
  "env": { "vars": { "ANY": "hidden" } },
  "apiKey": "old",
  "ref": { "apiKey": "${KEY}" },
  "a": 1,
}`
	after := strings.Replace(strings.Replace(before, `"old"`, `"new"`, 1), `"a": 1`, `"a": 2`, 1)
	got := Diff("openclaw.json", JSON, []byte(before), []byte(after))
	for _, has := range []string{"-  \"a\": 1,\n", "+  \"a\": 2,\n", `-  "apiKey": "«secret 3»"`,
		`+  "apiKey": "«secret 4»"`, "${KEY}"} {
		if !strings.Contains(got, has) {
			t.Errorf("no %q in\n%s", has, got)
		}
	}
	for _, secret := range []string{"abc", "hidden", "old", `"new"`} {
		if strings.Contains(got, secret) {
			t.Errorf("%s is in\n%s", secret, got)
		}
	}
	if got := Diff("x", JSON, []byte(before), []byte(before)); got != "" {
		t.Errorf("no change: %s", got)
	}
	if got := Diff("x", JSON, []byte("{apiKey: 'abc'}"), []byte(before)); !strings.HasPrefix(got,
		"x:1:2: the name apiKey ") || strings.Contains(got, "abc") {
		t.Errorf("a text that cannot be read: %s", got)
	}
	if got := Diff("x", JSON, nil, []byte(`{"a": 1}`)); !strings.Contains(got, `+{"a": 1}`) {
		t.Errorf("a config that is made: %s", got)
	}
}
