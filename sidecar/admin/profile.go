package admin

import (
	"net/http"
	"net/http/pprof"
)

// profile answers as net/http/pprof does at the same path, which is where go tool pprof looks.
func (a *API) profile(w http.ResponseWriter, r *http.Request) error {
	switch r.PathValue("name") {
	case "profile":
		pprof.Profile(w, r)
	case "trace":
		pprof.Trace(w, r)
	case "symbol":
		pprof.Symbol(w, r)
	case "cmdline":
		pprof.Cmdline(w, r)
	default:
		pprof.Index(w, r)
	}
	return nil
}
