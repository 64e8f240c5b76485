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

// checkID checks an id for logs and metrics.
func (l *loader) checkID(id rulefile.Text) {
	if !plainIDs.MatchString(id.Value) {
		l.reject(id, strconv.Quote(id.Value)+" cannot be an id",
			"an id has at most 64 letters, digits, - _ and .")
	}
}

// checkShownID checks an id that callers see, which may have any letters and symbols.
func (l *loader) checkShownID(id rulefile.Text) {
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }
	if id.Value == "" || strings.ContainsFunc(id.Value, odd) {
		l.reject(id, strconv.Quote(id.Value)+" cannot be an id",
			"an id has no blanks and no control characters")
	}
}

// checkUnique reports duplicate names; what says what they name.
func (l *loader) checkUnique(what string, ids []rulefile.Text) {
	first := map[string]rulefile.Place{}
	for _, id := range ids {
		if !id.At.Known() {
			continue // it could not be read, which is reported
		}
		if at, twice := first[id.Value]; twice {
			l.report(id.All(), rulefile.CodeDup, fmt.Sprintf("the %s %s stands here twice", what, id.Value),
				"it stands "+relativePlace(at, id.At)+", too")
			continue
		}
		first[id.Value] = id.At
	}
}

// relativePlace describes a place, seen from another one.
func relativePlace(at, from rulefile.Place) string {
	if at.File() == from.File() {
		return "in line " + strconv.Itoa(at.Line())
	}
	return "at " + at.String()
}

// mapSlice applies of to each entry of a list.
func mapSlice[A, B any](list []A, of func(A) B) []B {
	out := make([]B, len(list))
	for i := range list {
		out[i] = of(list[i])
	}
	return out
}
