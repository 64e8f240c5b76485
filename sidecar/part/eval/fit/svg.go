package fit

import (
	"fmt"
	"math"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// Sizes of a plot, in pixels.
const (
	side = 200 // of the square that holds a curve
	edge = 40  // around it
)

// SVG draws the curve of each class: what the score says, and how often it is a call. A point
// on the diagonal is right; its area grows with how many texts it stands for.
func SVG(s Samples, w *parse.Weights) string {
	var b strings.Builder
	wide, high := len(Classes())*(side+edge)+edge, side+2*edge
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="11">`+"\n", wide, high)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", wide, high)
	for i, class := range Classes() {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n", edge+i*(side+edge), edge)
		fmt.Fprintf(&b, `<text x="0" y="-8">class %s, %d texts</text>`+"\n", class, s.Total(class).all())
		fmt.Fprintf(&b, `<rect width="%d" height="%[1]d" fill="none" stroke="#888"/><path d="M0 %[1]dL%[1]d 0" stroke="#bbb" stroke-dasharray="4"/>`+"\n", side)
		x := float64(side) * w.Run.Of(class)
		fmt.Fprintf(&b, `<path d="M%.1f 0V%d" stroke="#c33"/>`+"\n", x, side)
		curve(&b, s.Curve(w, class))
		fmt.Fprintf(&b, `<text x="0" y="%d">0</text><text x="%d" y="%[1]d" text-anchor="end">1</text><text x="%d" y="%[1]d" text-anchor="middle">score</text>`+"\n", side+16, side, side/2)
		b.WriteString("</g>\n")
	}
	fmt.Fprintf(&b, `<text transform="translate(%d %d) rotate(-90)" text-anchor="middle">share of calls</text>`+"\n</svg>\n", edge-8, edge+side/2)
	return b.String()
}

func curve(b *strings.Builder, bins []Bin) {
	var line, points strings.Builder
	for i := range bins {
		bin := &bins[i]
		x, y := bin.Said*side, (1-bin.Share())*side
		fmt.Fprintf(&line, "%c%.1f %.1f", "ML"[min(i, 1)], x, y)
		fmt.Fprintf(&points, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="#36c" fill-opacity="0.5"><title>says %.3f, is %.3f of %d</title></circle>`+"\n",
			x, y, 1+math.Sqrt(float64(bin.all()))/4, bin.Said, bin.Share(), bin.all())
	}
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="#36c"/>`+"\n%s", line.String(), points.String())
}
