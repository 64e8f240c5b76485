package admin

import (
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// levels are those of the log, as the setting log_level names them.
var levels = []string{"debug", "info", "warn", "error"}

type levelDoc struct {
	Level string `json:"level"`
}

// level tells how much is logged.
func (a *API) level(w http.ResponseWriter, _ *http.Request) error {
	web.WriteJSON(w, http.StatusOK, levelDoc{strings.ToLower(a.Level.Level().String())})
	return nil
}

// setLevel changes that until the next start.
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
