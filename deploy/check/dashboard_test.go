package check

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

const board = "../grafana/gpt-oss-executor.json"

// The dashboard is formatted with its keys in order, so that a change that Grafana exports is a small diff.
func TestDashboardIsFormatted(t *testing.T) {
	var doc any
	must(t, json.Unmarshal(read(t, board), &doc))
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	must(t, enc.Encode(doc))
	if *update {
		must(t, os.WriteFile(board, want.Bytes(), 0o644))
	} else if !bytes.Equal(read(t, board), want.Bytes()) {
		t.Error("it is not: go test -run TestDashboardIsFormatted -update")
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
	var doc struct{ Panels []panel }
	must(t, json.Unmarshal(read(t, board), &doc))
	var all []panel
	for _, p := range doc.Panels {
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
	for _, p := range doc.Panels {
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

// The headings of a report are rows of the dashboard, and its figures have the words of the report.
func TestDashboardNamesFiguresAsReportDoes(t *testing.T) {
	const console = "../../sidecar/part/console/"
	page := string(read(t, console+"report.html"))
	words := strings.ToLower(page + string(read(t, console+"report.go")))
	var doc struct {
		Panels []struct{ Title, Type string }
	}
	must(t, json.Unmarshal(read(t, board), &doc))
	missing := map[string]bool{}
	for _, m := range regexp.MustCompile(`<h2>([^<]+)</h2>`).FindAllStringSubmatch(page, -1) {
		missing[m[1]] = true
	}
	if len(missing) < 3 {
		t.Errorf("a report has the headings %v: they are not found", missing)
	}
	row, figures := "", 0
	for _, p := range doc.Panels {
		if p.Type == "row" {
			row = p.Title
			delete(missing, row)
		}
		if p.Type != "stat" || row == "Is it well?" {
			continue
		}
		if figures++; !strings.Contains(words, strings.ToLower(p.Title)) {
			t.Errorf("no report says %q", p.Title)
		}
	}
	if len(missing) > 0 || figures < 6 {
		t.Errorf("%d figures; these headings are no rows: %v", figures, missing)
	}
}
