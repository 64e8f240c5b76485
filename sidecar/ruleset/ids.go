package ruleset

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

var plainIDs = regexp.MustCompile(`^[\w.-]{1,64}$`)

// plainID checks an id that goes into logs and metrics.
func (l *loader) plainID(id rulefile.Text) {
	if !plainIDs.MatchString(id.Value) {
		l.wrong(id, strconv.Quote(id.Value)+" cannot be an id",
			"an id has at most 64 letters, digits, - _ and .")
	}
}

// shownID checks an id that callers see, and may have any letters and signs.
func (l *loader) shownID(id rulefile.Text) {
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }
	if id.Value == "" || strings.ContainsFunc(id.Value, odd) {
		l.wrong(id, strconv.Quote(id.Value)+" cannot be an id",
			"an id has no blanks and no control characters")
	}
}

// unique reports names that stand twice; what says what they name.
func (l *loader) unique(what string, ids []rulefile.Text) {
	first := map[string]rulefile.Place{}
	for _, id := range ids {
		if !id.At.Known() {
			continue // it could not be read, which is reported
		}
		if at, twice := first[id.Value]; twice {
			l.report(id.All(), rulefile.CodeDup, fmt.Sprintf("the %s %s stands here twice", what, id.Value),
				"it stands "+seen(at, id.At)+", too")
			continue
		}
		first[id.Value] = id.At
	}
}

// seen is a place for those who look at another one.
func seen(at, from rulefile.Place) string {
	if at.File() == from.File() {
		return "in line " + strconv.Itoa(at.Line())
	}
	return "at " + at.String()
}

// collect takes one thing of each entry of a list.
func collect[A, B any](list []A, of func(A) B) []B {
	out := make([]B, len(list))
	for i := range list {
		out[i] = of(list[i])
	}
	return out
}
