package admin

import (
	"net/http"
	httppprof "net/http/pprof"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// longestProfile is how long the processor is watched at most, in seconds: the listener takes a
// minute for an answer.
const longestProfile = 45

// profile gives what go tool pprof reads: cpu watches the processor for as long as the query's
// seconds say, 10 if it does not; the others, such as heap and goroutine, are taken at once.
func (a *API) profile(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if name != "cpu" {
		p := pprof.Lookup(name)
		if p == nil {
			return refusal(http.StatusNotFound, "there is no profile "+strconv.Quote(name), "one of: "+strings.Join(profiles(), ", "))
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		return p.WriteTo(w, 0)
	}
	seconds := 10
	if text := r.URL.Query().Get("seconds"); text != "" {
		var err error
		if seconds, err = strconv.Atoi(text); err != nil || seconds < 1 || seconds > longestProfile {
			return refusal(http.StatusBadRequest, "seconds is "+strconv.Quote(text), "a whole number from 1 to "+strconv.Itoa(longestProfile))
		}
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	if err := pprof.StartCPUProfile(w); err != nil {
		return refusal(http.StatusConflict, "the processor is watched already", "try again when that has ended")
	}
	defer pprof.StopCPUProfile()
	select {
	case <-r.Context().Done():
	case <-a.Ending:
	case <-time.After(time.Duration(seconds) * time.Second):
	}
	return nil
}

// pprof answers as net/http/pprof does at the same path, for tools that expect it there.
func (a *API) pprof(w http.ResponseWriter, r *http.Request) error {
	switch r.PathValue("name") {
	case "profile":
		httppprof.Profile(w, r)
	case "trace":
		httppprof.Trace(w, r)
	case "symbol":
		httppprof.Symbol(w, r)
	case "cmdline":
		httppprof.Cmdline(w, r)
	default:
		httppprof.Index(w, r)
	}
	return nil
}

// profiles are their names.
func profiles() []string {
	names := []string{"cpu"}
	for _, p := range pprof.Profiles() {
		names = append(names, p.Name())
	}
	return names
}
