package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
)

// Role is what a caller may do on the admin listener. Each may do what those before it may.
type Role uint8

// The roles.
const (
	Nobody   Role = iota
	Reader        // sees
	Approver      // answers questions to a person, too
	Admin         // changes anything
)

// String is the role in a word.
func (r Role) String() string { return [...]string{"nobody", "reader", "approver", "admin"}[r] }

// Tokens are those of the admin listener; an empty one is none.
type Tokens struct{ Admin, Approver, Reader string }

// Check says what is wrong with the tokens.
func (t Tokens) Check() error {
	switch {
	case t.Admin == "" && (t.Approver != "" || t.Reader != ""):
		return errors.New("admin_approver_token and admin_reader_token need admin_token beside them: without it everyone may do everything")
	case t.Approver != "" && (t.Approver == t.Admin || t.Approver == t.Reader), t.Reader != "" &&
		t.Reader == t.Admin:
		return errors.New("admin_token, admin_approver_token and admin_reader_token must differ: who has one would have another's rights")
	}
	return nil
}

// Role is what a token lets do, found in a time that tells no token.
func (t Tokens) Role(token string) Role {
	role, is := Nobody, sha256.Sum256([]byte(token))
	for r, want := range map[Role]string{Reader: t.Reader, Approver: t.Approver, Admin: t.Admin} {
		sum := sha256.Sum256([]byte(want))
		if same := subtle.ConstantTimeCompare(is[:], sum[:]) == 1; same && want != "" {
			role = r
		}
	}
	return role
}

// Shown is the role of the bearer token that a request shows.
func (t Tokens) Shown(r *http.Request) Role {
	given, ok := bearer(r)
	if !ok {
		return Nobody
	}
	return t.Role(given)
}
