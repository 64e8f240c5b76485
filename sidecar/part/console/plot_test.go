package console

import (
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// wellFormed says what is no XML, and which places lie outside of the picture.
func wellFormed(t testing.TB, svg string, w, h float64) {
	t.Helper()
	depth, elements := 0, 0
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				elements++
			}
			if !strings.Contains(" svg title path text circle rect ", " "+e.Name.Local+" ") {
				t.Errorf("an element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") ||
					strings.Contains(a.Name.Local, "href") {
					t.Errorf("an attribute %s", a.Name.Local)
				}
				switch a.Name.Local {
				case "d":
					for _, n := range regexp.MustCompile(`-?[0-9.]+|NaN|Inf`).FindAllString(a.Value, -1) {
						if v, err := strconv.ParseFloat(n, 64); err != nil || v < 0 || v > max(w, h) {
							t.Errorf("%s is outside: %s", n, a.Value)
						}
					}
				case "x", "y", "cx", "cy", "width", "height":
					if v, err := strconv.ParseFloat(a.Value, 64); err != nil || v < 0 || v > max(w, h) {
						t.Errorf("%s is %s", a.Name.Local, a.Value)
					}
				}
			}
		case xml.EndElement:
			depth--
		}
	}
	if elements != 1 || depth != 0 {
		t.Errorf("%d elements, %d open: %s", elements, depth, svg)
	}
}

func went(n int, step time.Duration, at func(i int) (low, value, high float64)) (out []point) {
	for i := range n {
		low, value, high := at(i)
		out = append(out, point{At: noon.Add(time.Duration(i) * step), Low: low, Value: value, High: high,
			Says: "point <" + strconv.Itoa(i) + ">"})
	}
	return out
}

func TestSVG(t *testing.T) {
	narrows := func(i int) (float64, float64, float64) {
		w := 100 / math.Sqrt(float64(i+1))
		return 5 - w, 5, 5 + w
	}
	for name, row := range map[string]struct {
		plot Plot
		want []string
		not  string
	}{
		"nothing": {Plot{Says: "none"}, []string{`role="img"`, `aria-label="none"`,
			"<title>none</title>", ">0<"}, "band"},
		"one point": {Plot{Points: went(1, 0, narrows)}, []string{`class="band"`, `class="dot"`,
			"<title>point &lt;0&gt;</title>"}, "NaN"},
		"an hour": {Plot{Points: went(60, time.Minute, narrows), Margin: 2},
			[]string{">12:30<", ">+10<", ">0<", ">−10<", `class="zero"`, `class="margin"`}, ">+100<"},
		"two weeks": {Plot{Points: went(90, 4*time.Hour, narrows)}, []string{">Mar 5<", ">Mar 13<"},
			"12:00"},
		"over a night": {Plot{Points: went(60, 20*time.Minute, narrows)}, []string{">Mar 2<", ">20:00<"},
			""},
		"years":   {Plot{Points: went(60, 2000*time.Hour, narrows)}, []string{" 2030<"}, ""},
		"seconds": {Plot{Points: went(3, time.Second, narrows)}, []string{">12:00:01<"}, ""},
		"small": {Plot{Points: went(9, time.Hour,
			func(int) (float64, float64, float64) { return .0001, .0002, .0003 })}, []string{">+0.0002<"},
			""},
		"large": {Plot{Points: went(9, time.Hour,
			func(int) (float64, float64, float64) { return 1e9, 2e9, 3e9 })}, []string{">+1e+09<"}, ""},
		"all the same": {Plot{Points: went(9, time.Hour,
			func(int) (float64, float64, float64) { return 0, 0, 0 })}, []string{`class="line"`}, ""},
		"no numbers": {Plot{Points: went(9, time.Hour,
			func(int) (float64, float64, float64) { return math.NaN(), math.Inf(1), math.Inf(-1) })},
			[]string{">0<"}, "band"},
		"turned round": {Plot{Points: went(9, time.Hour,
			func(int) (float64, float64, float64) { return 1, 0, -1 })}, []string{">0<"}, "band"},
		"markup": {Plot{Says: `"><script>x</script>` + "\x00\x1b", Class: `a" onload="x`},
			[]string{"&#34;&gt;&lt;script&gt;"}, "<script"},
		"the axis is told": {Plot{Points: went(2, time.Minute, narrows), From: noon.Add(-time.Hour), To: noon.Add(time.Hour)}, []string{">11:30<", ">12:30<"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			row.plot.Width, row.plot.Height = 720, 240
			svg := row.plot.SVG()
			wellFormed(t, svg, 720, 240)
			for _, want := range row.want {
				if !strings.Contains(svg, want) {
					t.Errorf("it lacks %s: %.2000s", want, svg)
				}
			}
			if row.not != "" && strings.Contains(svg, row.not) {
				t.Errorf("it holds %s: %.2000s", row.not, svg)
			}
			if again := row.plot.SVG(); again != svg {
				t.Error("the same points give another picture")
			}
		})
	}
}

// Whatever numbers and texts come, the picture is whole, and nothing of it is outside.
func FuzzSVG(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 60.0, 2.0, 720, 240, "a title")
	f.Add(-1e300, math.MaxFloat64, 1e-300, 1e9, 1e-9, 0, -5, "<\x00]]>")
	f.Fuzz(func(t *testing.T, low, value, width, seconds, margin float64, w, h int, says string) {
		w, h = w%4000, h%4000
		if seconds = math.Mod(seconds, 1e6); seconds != seconds {
			seconds = 0
		}
		points := went(20, time.Duration(seconds*float64(time.Second)),
			func(i int) (float64, float64, float64) {
				return low / float64(i+1), value * float64(i), low + width
			})
		svg := Plot{Says: says, Points: points, Margin: margin, Width: w, Height: h}.SVG()
		wellFormed(t, svg, float64(max(w, 120)), float64(max(h, 120)))
	})
}
