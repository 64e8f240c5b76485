package check

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"
)

// The dashboard in the repository is the one that its table makes.
func TestDashboardIsFresh(t *testing.T) {
	cmd := exec.Command("go", "run", "./deploy/dashboard", "-out", "-")
	cmd.Dir = "../.."
	want, err := cmd.Output()
	must(t, err)
	if !bytes.Equal(read(t, "../grafana/gpt-oss-executor.json"), want) {
		t.Error("deploy/grafana/gpt-oss-executor.json is stale; run: go run ./deploy/dashboard")
	}
}

// Panels have ids of their own and do not lie on each other, and each query has its data source.
func TestDashboardIsWhole(t *testing.T) {
	type panel struct {
		ID      int
		Title   string
		Type    string
		Grid    struct{ X, Y, W, H int } `json:"gridPos"`
		Panels  []panel
		Targets []struct {
			Expr       string
			RefID      string `json:"refId"`
			Datasource struct{ UID string }
		}
	}
	var board struct{ Panels []panel }
	must(t, json.Unmarshal(read(t, "../grafana/gpt-oss-executor.json"), &board))
	var all []panel
	for _, p := range board.Panels {
		all = append(append(all, p), p.Panels...)
	}
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range all {
		if ids[p.ID] || p.Title == "" || p.Grid.X+p.Grid.W > 24 {
			t.Errorf("%q: id %d, %+v", p.Title, p.ID, p.Grid)
		}
		ids[p.ID] = true
		if (p.Type == "row") != (len(p.Targets) == 0) {
			t.Errorf("%q asks nothing", p.Title)
		}
		refs := map[string]bool{}
		for _, q := range p.Targets {
			if q.Datasource.UID != "${source}" || refs[q.RefID] {
				t.Errorf("%q: %+v", p.Title, q)
			}
			refs[q.RefID] = true
		}
	}
	for _, p := range board.Panels {
		for x := p.Grid.X; x < p.Grid.X+p.Grid.W; x++ {
			for y := p.Grid.Y; y < p.Grid.Y+p.Grid.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%q lies on %q", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
	if len(all) < 40 {
		t.Errorf("%d panels: they are not found", len(all))
	}
}
