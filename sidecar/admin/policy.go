package admin

import (
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// checkPolicy answers one question by the rules in force. It is what a gateway's hook
// asks before it runs a call.
func (a *API) checkPolicy(w http.ResponseWriter, r *http.Request) error {
	var q guard.Question
	if err := readSome(r, &q); err != nil {
		return err
	}
	ruling, err := a.World.Answer(a.Rules.Set(), &q)
	if err != nil {
		return Refuse(http.StatusBadRequest, err.Error(),
			`the body is {"command": "ls"}, {"path": "/etc/passwd", "op": "read"}, {"url": "https://…"} or {"tool": "exec", "arguments": {…}}`)
	}
	web.WriteJSON(w, http.StatusOK, ruling)
	return nil
}
