package admin

import (
	"log/slog"
	"net/http"
	"net/http/pprof"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// levels are the values of the setting log_level.
var levels = []string{"debug", "info", "warn", "error"}

type levelDoc struct {
	Level string `json:"level"`
}

// level returns the log level.
func (a *API) level(w http.ResponseWriter, _ *http.Request) error {
	web.WriteJSON(w, http.StatusOK, levelDoc{strings.ToLower(a.Level.Level().String())})
	return nil
}

// setLevel sets the log level until the next start.
func (a *API) setLevel(w http.ResponseWriter, r *http.Request) error {
	var to levelDoc
	if err := ReadJSON(r, &to); err != nil {
		return err
	}
	var level slog.Level
	if !slices.Contains(levels, to.Level) || level.UnmarshalText([]byte(to.Level)) != nil {
		return Refuse(http.StatusBadRequest, "there is no level "+strconv.Quote(to.Level),
			"one of: "+strings.Join(levels, ", "))
	}
	was := a.Level.Level()
	a.Level.Set(min(was, level)) // the line that says so is seen either way
	a.Log.Log(r.Context(), max(was, level), "the log level was changed", "event", "log_level", "from",
		strings.ToLower(was.String()), "to", to.Level)
	a.Level.Set(level)
	return a.level(w, r)
}

// profile answers like net/http/pprof at the same path, where go tool pprof looks.
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
