package sidecar

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// readyz says whether a request would be served: rules are loaded, and the
// upstream can be reached. The probe behind it is cached. Rules on disk that do
// not load are a warning, since older ones are in force.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	set := s.rules.Set()
	body := map[string]any{"ready": true, "rules": set.Version, "failing": []string{}}
	if trouble := s.rules.Trouble(); trouble != "" {
		body["warnings"] = []string{trouble}
	}
	status := http.StatusOK
	if err := s.Ready(r.Context()); err != nil {
		status = http.StatusServiceUnavailable
		body["ready"], body["failing"] = false, []string{err.Error()}
	} else if len(set.Models[0].Upstreams) == 0 {
		body["server"] = s.turns.Fleet.Main.Server(r.Context(), set).ID.Value
	}
	if s.replicas != nil {
		s.replicas().tell(body)
	}
	body["upstreams"] = s.turns.Fleet.Look(r.Context(), set)
	web.WriteJSON(w, status, body)
}

// Replicas are the sidecars behind one address, as far as they are known here.
type Replicas struct {
	This string    // the id of this one
	Away bool      // the server that they share cannot be asked
	List []Replica // that were heard of lately
}

// Replica is one of them.
type Replica struct {
	ID    string    `json:"id"`
	Rules string    `json:"rules"` // version in force
	Seen  time.Time `json:"seen"`
	// seconds by which its clock differs from that of the server; 0: it is right
	Ahead float64 `json:"clock_ahead,omitempty"`
}

// tell adds to what readyz says. A server that is away is no reason to send requests elsewhere: it is
// away for all of them, and they are served.
func (r Replicas) tell(body map[string]any) {
	warnings, _ := body["warnings"].([]string)
	body["replica"], body["shared"], body["replicas"] = r.This, "up", r.List
	if r.Away {
		body["shared"] = "away"
		warnings = append(warnings,
			"the server that replicas share is away: each goes by what it knows itself")
	}
	versions := map[string]int{}
	for _, one := range r.List {
		if one.Ahead != 0 {
			warnings = append(warnings,
				fmt.Sprintf("the clock of replica %s differs from that of the server that replicas share by %+g s: set it", one.ID, one.Ahead))
		}
		versions[one.Rules]++
	}
	if len(versions) > 1 {
		var said []string
		for _, v := range slices.Sorted(maps.Keys(versions)) {
			said = append(said, fmt.Sprintf("%s at %d", v, versions[v]))
		}
		warnings = append(warnings, "replicas have different rules in force: "+strings.Join(said, ", "))
	}
	if len(warnings) > 0 {
		body["warnings"] = warnings
	}
}
