package fit

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// Write tells what came of a job, for people: the weights, what they were fitted to, and how
// good they are on what was kept.
func (r *Result) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d made-up replies from seed %d on, half of them without a call", r.Count, r.Seed)
	if n := len(r.Cases); n > 0 {
		fmt.Fprintf(&b, ", and %d of %d labelled ones", (n+1)/2, n)
	}
	used, kept := r.Used.All.Total(""), r.Kept.All.Total("")
	fmt.Fprintf(&b, ";\nas many others to judge by. %d texts were weighed, of which %d are calls; to judge by %d, of which %d.\n\n", used.all(), used.Calls, kept.all(), kept.Calls)
	prior := parse.Prior()
	fmt.Fprintf(&b, "%-10s %6s %6s %6s %8s %8s\n", "sign", "prior", "old", "new", "calls", "no calls")
	for s := range parse.Count {
		n := r.Used.All.With(s)
		fmt.Fprintf(&b, "%-10s %6.1f %6.1f %6.1f %8d %8d\n", s, prior.Of[s], r.Old.Of[s], r.New.Of[s],
			n.Calls, n.Texts)
	}
	oldLog, oldSquare := r.Kept.All.Loss(&r.Old)
	log, square := r.Kept.All.Loss(&r.New)
	fmt.Fprintf(&b, "\nOn texts that were not used: logarithmic loss %.4f, was %.4f; Brier score %.4f, was %.4f.\n", log, oldLog, square, oldSquare)
	for _, class := range Classes() {
		curve := r.Kept.All.Curve(&r.New, class)
		fmt.Fprintf(&b, "\nclass %s: %d texts; score and share of calls are %.1f %% apart, were %.1f %%\n",
			class, r.Kept.All.Total(class).all(),
			100*Off(curve), 100*Off(r.Kept.All.Curve(&r.Old, class)))
		for i := range curve {
			b.WriteString("  " + curve[i].String() + "\n")
		}
		from := r.New.Run.Of(class)
		n := r.Kept.All.From(&r.New, class, from)
		fmt.Fprintf(&b, "  it runs from %.2f on: %s\n", from, n.precision())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// barWidth is how long the bar of a share of 1 is.
const barWidth = 40

// String is a bin as a line: a bar for the share of calls, and a mark at what the score says.
func (b *Bin) String() string {
	bar := []rune(strings.Repeat("█", int(math.Round(b.Share()*barWidth))) + strings.Repeat("·",
		barWidth))[:barWidth]
	bar[min(barWidth-1, int(b.Said*barWidth))] = '|'
	return fmt.Sprintf("%.2f to %.2f  %s  says %.3f, is %.3f of %d", b.From, b.To, string(bar), b.Said,
		b.Share(), b.all())
}

// precision says how many of the texts that run are calls.
func (c Count) precision() string {
	if c.all() == 0 {
		return "no text reaches it"
	}
	return fmt.Sprintf("%d of %d are calls, %.2f %%", c.Calls, c.all(), 100*float64(c.Calls)/float64(c.all()))
}
