package fit

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// The picture is XML, has a point for each bin, and is the same each time.
func TestSVG(t *testing.T) {
	w := parse.Prior()
	s := Samples{
		Kind{signs(parse.Object), tools.Read}: {90, 10}, Kind{signs(parse.Object, parse.Quoted),
			tools.Read}: {0, 9},
		Kind{signs(parse.Object), tools.Exec}: {1, 0},
	}
	picture := SVG(s, &w)
	if picture != SVG(s, &w) {
		t.Error("two pictures of the same differ")
	}
	points, texts := 0, ""
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "circle" {
				points++
			}
		case xml.CharData:
			texts += string(e)
		}
	}
	if points != 3 || !strings.Contains(texts, "class read, 109 texts") ||
		!strings.Contains(texts, "class write, 0 texts") || !strings.Contains(texts, "is 0.900 of 100") {
		t.Errorf("%d points in\n%s", points, picture)
	}
}
