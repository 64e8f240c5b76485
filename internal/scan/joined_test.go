package scan

import "testing"

func TestJoined(t *testing.T) {
	var j Joined
	for _, row := range []struct{ add, want string }{{"", ""}, {"a", "a"}, {"", "a"}, {"bc", "abc"},
		{"", "abc"}, {"d", "abcd"}} {
		if j.Add(row.add); j.String() != row.want || j.Len() != len(row.want) {
			t.Errorf("%q with %q added has length %d", j.String(), row.add, j.Len())
		}
	}
}
