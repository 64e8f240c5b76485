package web

import (
	"net/http/httptest"
	"testing"
)

// A token has its role and no other; what is empty gives no role.
func TestRoles(t *testing.T) {
	all, one := Tokens{Admin: "a", Approver: "b", Reader: "c"}, Tokens{Admin: "a"}
	for _, row := range []struct {
		tokens Tokens
		header string
		want   Role
	}{
		{all, "Bearer a", Admin}, {all, "Bearer b", Approver}, {all, "Bearer c", Reader}, {all, "Bearer d", NoRole}, {all, "Bearer ", NoRole}, {all, "bearer b", Approver}, {all, "bearer", NoRole},
		{all, "", NoRole}, {all, "a", NoRole}, {all, "Basic a", NoRole}, {one, "Bearer a", Admin}, {one, "Bearer ", NoRole}, {Tokens{}, "Bearer ", NoRole},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		if row.header != "" {
			r.Header.Set("Authorization", row.header)
		}
		if got := row.tokens.Shown(r); got != row.want {
			t.Errorf("%+v %q: %s, want %s", row.tokens, row.header, got, row.want)
		}
	}
}

// Tokens that give rights away stop the start.
func TestTokensAreChecked(t *testing.T) {
	for _, row := range []struct {
		tokens Tokens
		ok     bool
	}{
		{Tokens{}, true}, {Tokens{Admin: "a"}, true}, {Tokens{"a", "b", "c"}, true}, {Tokens{Reader: "c"}, false}, {Tokens{Approver: "b"}, false},
		{Tokens{"a", "a", ""}, false}, {Tokens{"a", "", "a"}, false}, {Tokens{"a", "b", "b"}, false},
	} {
		if err := row.tokens.Check(); (err == nil) != row.ok {
			t.Errorf("%+v: %v", row.tokens, err)
		}
	}
}
