package sidecar

import (
	"encoding/json"
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/sidecar/workspace"
)

// checkPolicy answers one question by the rules in force. It is what a gateway's hook
// asks before it runs a call.
func (a *Admin) checkPolicy(w http.ResponseWriter, r *http.Request) error {
	doc, err := adminBody(r)
	if err != nil {
		return err
	}
	var q Question
	if err := PlainJSON(json.Unmarshal(doc, &q)); err != nil && len(doc) > 0 { // a hook may say more than is read
		return notTaken(err)
	}
	ruling, err := q.Judge(a.Live.Set(), workspace.Links{}, a.Live.own)
	if err != nil {
		return refusal(http.StatusBadRequest, err.Error(), `the body is {"command": "ls"}, {"path": "/etc/passwd", "op": "read"}, {"url": "https://…"} or {"tool": "exec", "arguments": {…}}`)
	}
	writeJSON(w, http.StatusOK, ruling)
	return nil
}
