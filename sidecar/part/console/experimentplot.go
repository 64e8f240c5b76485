package console

import (
	"fmt"
	"html/template"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
)

// plotView shows how the difference between an arm and the first one developed, as pictures for two screen
// widths and as a table.
type plotView struct {
	Arm, Against, Measure, Unit string
	Missing                     string // why there is no picture
	Wide, Narrow                template.HTML
	Rows                        []plotRow
	Every                       int // each row stands for so many
}

// plotRow is a row of the table.
type plotRow struct {
	At    time.Time
	Units int
	Says  string
}

// maxPlotRows is the maximal number of rows.
const maxPlotRows = 16

// plotsOf returns the plots of one measure, by arm.
func plotsOf(e *experiment.Experiment, r *experiment.Report, series int) (out []plotView) {
	s := &r.Series[series]
	unit, scale := s.Unit, 1.0
	if unit == "" {
		unit, scale = "points", 100
	}
	for k := 1; k < len(e.Arms); k++ {
		v := plotView{Arm: e.Arms[k].Name, Against: e.Arms[0].Name, Measure: s.ID, Unit: unit}
		p := Plot{From: r.Began, Width: 600, Height: 220}
		if series == 0 {
			p.Margin = scale * e.Margin
		}
		var last *experiment.Finding
		for i := range s.Points {
			at := &s.Points[i]
			if len(at.Arms) <= k || at.Arms[k].Against == nil {
				continue
			}
			f := at.Arms[k].Against
			last, p.To = f, at.At
			if f.Low == f.High {
				continue // too early for a result
			}
			units := 0
			for _, a := range at.Arms {
				units += a.Units
			}
			says := f.Words(s.Unit)
			if f.Kind == experiment.Early {
				says += " (" + f.Interval(s.Unit) + ")"
			}
			p.Points = append(p.Points, point{At: at.At, Low: scale * f.Low, Value: scale * f.Effect,
				High: scale * f.High,
				Says: fmt.Sprintf("%s, %s: %s", at.At.Format("Jan 2 15:04"),
					terminal.Count(units, r.Unit), says)})
			v.Rows = append(v.Rows, plotRow{at.At, units, says})
		}
		if len(p.Points) == 0 {
			v.Missing = fmt.Sprintf("There is a picture as soon as each arm has 30 %ss with %s.", r.Unit,
				s.ID)
			out = append(out, v)
			continue
		}
		end := p.Points[len(p.Points)-1]
		p.Class = "k-" + string(last.Kind)
		p.Says = fmt.Sprintf("%s of %s less that of %s over time, in %s: at the end %.4g, within %.4g to %.4g, %s", s.ID, v.Arm, v.Against, unit, end.Value, end.Low, end.High, last.Words(s.Unit))
		v.Wide = template.HTML(p.SVG()) // it escapes every text
		p.Width, p.Height = 330, 220
		v.Narrow = template.HTML(p.SVG())
		v.thin()
		out = append(out, v)
	}
	return out
}

// thin removes rows at regular steps, but not the last one.
func (v *plotView) thin() {
	v.Every = (len(v.Rows) + maxPlotRows - 1) / maxPlotRows
	kept := v.Rows[:0]
	for i := range v.Rows {
		if (len(v.Rows)-1-i)%v.Every == 0 {
			kept = append(kept, v.Rows[i])
		}
	}
	v.Rows = kept
}
