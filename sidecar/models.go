package sidecar

import (
	"net/http"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// modelEntry is one entry of GET /v1/models.
type modelEntry struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int    `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) error {
	list := []modelEntry{}
	for _, m := range s.rules.Set().Models {
		list = append(list, modelEntry{m.ID.Value, "model", 0, "gpt-oss-executor"})
	}
	web.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
	return nil
}

func (s *Server) model(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if _, ok := s.rules.Set().Model(id); !ok {
		return openai.ModelNotFound(id)
	}
	web.WriteJSON(w, http.StatusOK, modelEntry{id, "model", 0, "gpt-oss-executor"})
	return nil
}
