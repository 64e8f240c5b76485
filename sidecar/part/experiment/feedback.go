package experiment

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// maxFeedback is the maximal size of a feedback, in bytes.
const maxFeedback = 4 << 10

// ServeFeedback counts the caller's score of an answer: {"request": "…", "score": 0 to 1}.
func (tr *Tracker) ServeFeedback(w http.ResponseWriter, r *http.Request) error {
	const how = `send {"request": the X-Request-Id of the answer, "score": a number from 0 to 1}`
	var feedback struct {
		Request string   `json:"request"`
		Score   *float64 `json:"score"`
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxFeedback))
	if err := dec.Decode(&feedback); err != nil {
		return openai.InvalidRequest("", "the feedback cannot be read: "+jsontext.Error(err).Error()+"; "+how)
	}
	if feedback.Request == "" || feedback.Score == nil {
		return openai.InvalidRequest("", "the feedback lacks request or score; "+how)
	}
	if err := tr.Feedback(feedback.Request, *feedback.Score); err != nil {
		e := openai.InvalidRequest("", err.Error())
		if errors.Is(err, errUnknown) {
			e.Status = http.StatusNotFound
		}
		return e
	}
	web.WriteJSON(w, http.StatusOK, map[string]any{"ok": true})
	return nil
}
