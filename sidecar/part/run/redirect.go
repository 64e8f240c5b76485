package run

import (
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

// anonymous are the headers that say nothing about who asks. All others stay with the
// origin they were meant for: any of them may be a key.
var anonymous = []string{"Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "User-Agent"}

// redirected is the next URL and the request for it. The methods are those of net/http:
// only 307 and 308 send a body again.
func redirected(u urls.Use, in Request, location string, status int) (urls.Use, Request) {
	next := u.Redirect(location)
	again := status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
	if !again && in.Method != http.MethodHead {
		in.Method, in.Body = http.MethodGet, nil
	}
	next.Method = in.Method
	if next.SameOrigin(u) {
		return next, in
	}
	kept := http.Header{}
	for _, name := range anonymous {
		if v := in.Header.Values(name); len(v) > 0 {
			kept[name] = v
		}
	}
	in.Header = kept
	return next, in
}
