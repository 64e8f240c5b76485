package console

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/experiment"
)

// point is a value at a time, with its interval.
type point struct {
	At               time.Time
	Low, Value, High float64
	Says             string // tooltip
}

// Plot is a chart of points in order of time. Points with NaN or infinite values are left out.
type Plot struct {
	Says          string // alternative text
	Class         string // of the svg, beside plot
	Points        []point
	From, To      time.Time // of the axis; zero: of the points
	Margin        float64   // distance of two lines from 0; 0: none
	Width, Height int
}

// Margins around the plot area, in pixels.
const (
	left, right = 46, 14
	top, bottom = 10, 24
	fewest      = 120 // pixels of width and height
)

// plotArea maps values to pixels.
type plotArea struct {
	w, h      float64
	from, to  time.Time
	low, high float64
}

func (f *plotArea) x(t time.Time) float64 {
	share := float64(t.Sub(f.from)) / float64(f.to.Sub(f.from))
	return left + min(max(share, 0), 1)*(f.w-left-right)
}

func (f *plotArea) y(v float64) float64 {
	return top + (f.high-min(max(v, f.low), f.high))/(f.high-f.low)*(f.h-top-bottom)
}

// has reports whether a value is inside the plot area.
func (f *plotArea) has(v float64) bool { return f.low <= v && v <= f.high }

// SVG returns the chart as a whole element with all texts escaped.
func (p Plot) SVG() string {
	points := finitePoints(p.Points)
	f := p.frame(points)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="%s" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s"><title>%[6]s</title>`,
		html.EscapeString(strings.TrimSpace("plot "+p.Class)), f.w, f.h, f.w, f.h, escaped(p.Says))
	for _, v := range ticks(f.low, f.high) {
		class := "grid"
		if v == 0 {
			class = "zero"
		}
		fmt.Fprintf(&b, `<path class="%s" d="M%d %sH%s"/><text class="tick" x="%d" y="%s" text-anchor="end">%s</text>`,
			class, left, px(f.y(v)), px(f.w-right), left-6, px(f.y(v)+4), signedLabel(v, f.high-f.low))
	}
	days(&b, f)
	for _, v := range []float64{p.Margin, -p.Margin} {
		if v != 0 && f.has(v) {
			fmt.Fprintf(&b, `<path class="margin" d="M%d %sH%s"/>`, left, px(f.y(v)), px(f.w-right))
		}
	}
	if len(points) > 0 {
		draw(&b, f, points)
	}
	b.WriteString("</svg>")
	return b.String()
}

// draw draws the band, the line and a tooltip for each point.
func draw(b *strings.Builder, f *plotArea, points []point) {
	b.WriteString(`<path class="band" d="M`)
	for i := range points {
		fmt.Fprintf(b, "%s %s ", px(f.x(points[i].At)), px(f.y(points[i].High)))
	}
	b.WriteString("L")
	for i := len(points) - 1; i >= 0; i-- {
		fmt.Fprintf(b, "%s %s ", px(f.x(points[i].At)), px(f.y(points[i].Low)))
	}
	b.WriteString(`Z"/><path class="line" d="`)
	pen := "M"
	for i := range points {
		if !f.has(points[i].Value) { // the line goes on outside
			pen = "M"
			continue
		}
		fmt.Fprintf(b, "%s%s %s", pen, px(f.x(points[i].At)), px(f.y(points[i].Value)))
		pen = "L"
	}
	last := &points[len(points)-1]
	x, y := px(f.x(last.At)), px(f.y(last.Value))
	fmt.Fprintf(b, `"/><path class="whisker" d="M%s %sV%s"/><circle class="dot" cx="%s" cy="%s" r="3.5"/>`, x,
		px(f.y(last.High)), px(f.y(last.Low)), x, y)
	for i := range points {
		if points[i].Says == "" {
			continue
		}
		from, to := f.x(points[i].At), f.w-right
		if i > 0 {
			from = (from + f.x(points[i-1].At)) / 2
		}
		if i+1 < len(points) {
			to = (f.x(points[i].At) + f.x(points[i+1].At)) / 2
		}
		fmt.Fprintf(b, `<rect class="look" x="%s" y="%d" width="%s" height="%s"><title>%s</title></rect>`,
			px(from), top, px(max(to-from, 0)), px(f.h-top-bottom), escaped(points[i].Says))
	}
}

// finitePoints returns the points with finite values.
func finitePoints(points []point) (out []point) {
	for _, p := range points {
		if n := p.Low + p.Value + p.High; math.Abs(n) < math.MaxFloat64/1e6 && p.Low <= p.High {
			out = append(out, p)
		}
	}
	return out
}

// frame chooses the ranges. Early intervals span nearly all possible values and would hide the rest, so
// only the last two thirds of the time count; values outside are drawn along the edge.
func (p Plot) frame(points []point) *plotArea {
	f := &plotArea{w: float64(max(p.Width, fewest)), h: float64(max(p.Height, fewest)), from: p.From,
		to: p.To}
	if n := len(points); n > 0 {
		if f.from.IsZero() {
			f.from = points[0].At
		}
		if f.to.IsZero() {
			f.to = points[n-1].At
		}
	}
	if !f.to.After(f.from) {
		f.from = f.to.Add(-time.Minute)
	}
	if p.Margin < 0 || !(p.Margin < math.MaxFloat64/1e6) {
		p.Margin = 0
	}
	f.low, f.high = -p.Margin, p.Margin
	begins := f.from.Add(f.to.Sub(f.from) / 3)
	for i, at := range points {
		if i+1 == len(points) || at.At.After(begins) {
			f.low, f.high = min(f.low, at.Low, at.Value), max(f.high, at.High, at.Value)
		}
	}
	if room := (f.high - f.low) * .06; room > 0 {
		f.low, f.high = f.low-room, f.high+room
	} else {
		f.low, f.high = -1, 1
	}
	return f
}

// ticks returns round values in a range, with 0 if it is inside.
func ticks(low, high float64) (out []float64) {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/4)))
	for _, times := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*times) <= 5 {
			step *= times
			break
		}
	}
	first := math.Ceil(low / step)
	for i := range 8 {
		if v := (first + float64(i)) * step; v <= high {
			out = append(out, v)
		}
	}
	return out
}

// signedLabel formats a tick; span is the width of the range.
func signedLabel(v, span float64) string {
	digits := max(0, min(12, 1-int(math.Floor(math.Log10(span/2)))))
	s := strconv.FormatFloat(math.Abs(v), 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if len(s) > 7 {
		s = strconv.FormatFloat(math.Abs(v), 'g', 2, 64)
	}
	switch {
	case s == "0":
		return s
	case v < 0:
		return "−" + s
	}
	return "+" + s
}

// steps are the possible distances between times on the axis.
var steps = [...]time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
	10 * time.Minute, 30 * time.Minute, time.Hour,
	2 * time.Hour, 4 * time.Hour, 8 * time.Hour, day, 2 * day, 4 * day, 7 * day, 14 * day, 28 * day, 91 * day,
	365 * day, 730 * day, 1826 * day,
}

const day = 24 * time.Hour

// days writes the times on the axis.
func days(b *strings.Builder, f *plotArea) {
	most := max(2, int((f.w-left-right)/84))
	step := steps[len(steps)-1]
	for _, s := range steps {
		if f.to.Sub(f.from)/s < time.Duration(most) {
			step = s
			break
		}
	}
	y, m, d := f.from.Date()
	at := time.Date(y, m, d, 0, 0, 0, 0, f.from.Location())
	if step < day {
		at = at.Add(f.from.Sub(at).Truncate(step))
	}
	for range 2*most + 2 {
		if at.After(f.to) {
			break
		}
		if x := f.x(at); !at.Before(f.from) && x < f.w-right-12 && x > left+8 {
			fmt.Fprintf(b, `<path class="grid" d="M%[1]s %[2]dV%[3]s"/><text class="tick" x="%[1]s" y="%[4]s" text-anchor="middle">%[5]s</text>`, px(x), top, px(f.h-bottom), px(f.h-7), at.Format(layout(at, step)))
		}
		if step < day {
			at = at.Add(step)
		} else {
			at = at.AddDate(0, 0, int(step/day)) // a day may have 23 hours
		}
	}
}

func layout(at time.Time, step time.Duration) string {
	switch {
	case step < time.Minute:
		return "15:04:05"
	case step >= 91*day:
		return "Jan 2006"
	case step >= day || at.Hour() == 0 && at.Minute() == 0:
		return "Jan 2"
	}
	return "15:04"
}

func px(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// escaped escapes a text for XML, which has no control characters.
func escaped(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")))
}

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
