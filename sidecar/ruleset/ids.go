package ruleset

import (
	"fmt"
	"regexp"
	"strconv"
)

var plainIDs = regexp.MustCompile(`^[\w.-]{1,64}$`)

// plainID checks an id that goes into logs and metrics.
func (l *loader) plainID(id text) {
	if id.at.src != nil && !plainIDs.MatchString(id.Value) {
		l.report(id.all(), codeValue, strconv.Quote(id.Value)+" cannot be an id", "letters, digits, - _ and . up to 64 of them")
	}
}

// unique reports names that stand twice; what says what they name.
func (l *loader) unique(what string, ids []text) {
	first := map[string]place{}
	for _, id := range ids {
		if id.at.src == nil {
			continue // it could not be read, which is reported
		}
		if at, twice := first[id.Value]; twice {
			where := "at " + at.String()
			if at.src.name == id.at.src.name {
				where = "in line " + strconv.Itoa(at.line)
			}
			l.report(id.all(), codeDup, fmt.Sprintf("the %s %s stands here twice", what, id.Value), "it stands "+where+", too")
			continue
		}
		first[id.Value] = id.at
	}
}
