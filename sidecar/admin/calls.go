package admin

import (
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// judgeCall judges a call that a gateway is about to run, whichever model has made it. Unlike
// checkPolicy it counts, logs the decision, and asks a person where the rules say so.
func (a *API) judgeCall(w http.ResponseWriter, r *http.Request) error {
	var q guard.HookRequest
	if err := ReadJSON(r, &q); err != nil {
		return err
	}
	ruling, err := a.Guard.Hook(a.Rules.Set(), &q)
	if err != nil {
		return Refuse(http.StatusBadRequest, err.Error(),
			`the body is {"id": "call1", "tool": "exec", "arguments": {"command": "ls"}, "workspace": "/srv/ws", "session": "agent:main:main", "agent": "main"}`)
	}
	web.WriteJSON(w, http.StatusOK, ruling)
	return nil
}
