package admin

import (
	"encoding/json"
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/internal/plainjson"
	"github.com/jgavinray/gpt-oss-executor/sidecar/guard"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// checkPolicy answers one question by the rules in force. It is what a gateway's hook
// asks before it runs a call.
func (a *API) checkPolicy(w http.ResponseWriter, r *http.Request) error {
	doc, err := readBody(r)
	if err != nil {
		return err
	}
	var q guard.Question
	if err := plainjson.Error(json.Unmarshal(doc, &q)); err != nil && len(doc) > 0 { // a hook may say more than is read
		return notTaken(err)
	}
	ruling, err := a.World.Answer(a.Rules.Set(), &q)
	if err != nil {
		return refusal(http.StatusBadRequest, err.Error(), `the body is {"command": "ls"}, {"path": "/etc/passwd", "op": "read"}, {"url": "https://…"} or {"tool": "exec", "arguments": {…}}`)
	}
	web.WriteJSON(w, http.StatusOK, ruling)
	return nil
}
