package sidecar

import "net/http"

// guard says who may ask: whoever shows the token, and never a web page.
func (a *Admin) guard(r *http.Request) error {
	names := Names{Local: a.Local, Token: a.Token != "", Hosts: a.Hosts}
	if why, hint := names.refuse(r); why != "" {
		return refusal(http.StatusForbidden, why, hint)
	}
	if a.Token != "" && !bearer(r, a.Token) {
		return refusal(http.StatusUnauthorized, "the token is missing or wrong", "send it with: Authorization: Bearer TOKEN (the setting admin_token)")
	}
	return nil
}
