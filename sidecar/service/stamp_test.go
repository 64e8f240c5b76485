package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder of this form, or of none, is taken; one of a later form is left as it is.
func TestCheck(t *testing.T) {
	for name, row := range map[string]struct{ holds, why string }{
		"none": {"", ""}, "this one": {"1\n", ""}, "a later one": {"2\n", "by a later version of this program"},
		"no number": {"x", "does not hold a number"}, "cut": {"\n", "does not hold a number"},
	} {
		dir := filepath.Join(t.TempDir(), "state")
		file := filepath.Join(dir, FormatFile)
		if row.holds != "" {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(row.holds), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := CheckFormat(dir)
		if (err == nil) != (row.why == "") || err != nil && (!strings.Contains(err.Error(), row.why) ||
			!strings.Contains(err.Error(), dir)) {
			t.Errorf("%s: %v", name, err)
		}
		want := row.holds
		if want == "" {
			want = "1\n"
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}
