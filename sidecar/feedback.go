package sidecar

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/experiment"
	"github.com/jgavinray/gpt-oss-executor/sidecar/lab"
	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/sidecar/turn"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// experimentHeader names the arms in which a request was served, EXPERIMENT/ARM each, with
// blanks between them.
const experimentHeader = "X-Experiment"

// seat finds the arms of a request; nil: no experiment is about it.
func (s *Server) seat(w http.ResponseWriter, set *ruleset.Set, req *openai.Request,
	from turn.Caller) *lab.Seat {
	if s.lab == nil || set.Experiments.Idle() { // most servers: it costs nothing there
		return nil
	}
	model := req.Model
	if model == "" {
		model = set.Models[0].ID.Value
	}
	who := turn.Asker(req, from, model)
	user := ""
	if at, ok := req.Field("user"); ok {
		user, _ = openai.Text(req.Body, at)
	}
	seat := s.lab.Seat(set, w.Header().Get(web.RequestID), experiment.Asking{
		Model: model, Agent: who.Agent, Session: who.Session, Channel: who.Channel, User: user,
		Tools: len(req.Tools),
	})
	if arms := seat.Arms(); arms != "" {
		w.Header().Set(experimentHeader, arms)
	}
	return seat
}

// maxFeedback is how long the body of a feedback may be.
const maxFeedback = 4 << 10

// feedback counts the score that the caller gives an answer: {"request": "…", "score": 0 to 1}.
func (s *Server) feedback(w http.ResponseWriter, r *http.Request) error {
	const how = `send {"request": the X-Request-Id of the answer, "score": a number from 0 to 1}`
	var said struct {
		Request string   `json:"request"`
		Score   *float64 `json:"score"`
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxFeedback))
	if err := dec.Decode(&said); err != nil {
		return openai.InvalidRequest("", "the feedback cannot be read: "+jsontext.Error(err).Error()+"; "+how)
	}
	if said.Request == "" || said.Score == nil {
		return openai.InvalidRequest("", "the feedback lacks request or score; "+how)
	}
	err := error(lab.ErrUnknown)
	if s.lab != nil {
		err = s.lab.Feedback(said.Request, *said.Score)
	}
	if err != nil {
		e := openai.InvalidRequest("", err.Error())
		if errors.Is(err, lab.ErrUnknown) {
			e.Status = http.StatusNotFound
		}
		return e
	}
	web.WriteJSON(w, http.StatusOK, map[string]any{"ok": true})
	return nil
}
