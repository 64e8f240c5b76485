package setup

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Lines formats a report for people.
func (r *Report) Lines() (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	say("tokens, %s", r.From)
	for _, t := range r.Models {
		say("  %-18s %14s prompt  %14s completion, %s of it reasoning", t.Model, tokenWords(t.Prompt),
			tokenWords(t.Completion), tokenWords(t.Reasoning))
	}
	if r.Total == nil {
		say("cost: not known. Say what an hour of your machines costs with --per-hour, or --watts and --per-kwh")
	} else {
		say("cost%s", r.in())
		for _, p := range r.Parts {
			say("  %-18s %14s  %s", p.Name, money(p.Value), p.Way)
		}
		say("  %-18s %14s  %s", r.Total.Name, money(r.Total.Value), r.Total.Way)
		say("for a million%s", r.in())
		for _, p := range r.Per {
			say("  %-18s %14s  %s", p.Name, money(p.Value), p.Way)
		}
		if len(r.Per) == 1 {
			say("  to tell prompt from completion, say with --weight how many prompt tokens are as dear as one completion token")
		}
	}
	if len(r.Hosted) > 0 {
		say("the same tokens elsewhere%s", r.in())
	}
	for _, h := range r.Hosted {
		ratio := ""
		if h.Times > 0 {
			ratio = fmt.Sprintf(", %s times your own", roundedNumber(h.Times))
		}
		say("  %-18s %14s  %s%s", h.Name, money(h.Value), h.Way, ratio)
		say("  %-18s %14s  price from %s", "", "", h.Source)
	}
	if len(r.Hosted) > 0 {
		say("  another model counts the same text in other tokens, and needs more or fewer of them for the same work")
	}
	return out
}

// in returns the currency with a blank, if there is one.
func (r *Report) in() string {
	if r.Currency == "" {
		return ""
	}
	return ", in " + r.Currency
}

// tokenWords formats a number of tokens, with groups of thousands.
func tokenWords(n float64) string {
	s := strconv.FormatFloat(math.Round(n), 'f', 0, 64)
	var b strings.Builder
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// money formats an amount: with cents, and below 1 with four significant digits.
func money(n float64) string {
	if n != 0 && n < 1 {
		return strconv.FormatFloat(n, 'g', 4, 64)
	}
	return strconv.FormatFloat(n, 'f', 2, 64)
}

// exactNumber formats a number of the user with all its digits.
func exactNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// roundedNumber formats a computed number with four significant digits.
func roundedNumber(n float64) string {
	if n >= 1000 {
		return strconv.FormatFloat(math.Round(n), 'f', -1, 64)
	}
	return strconv.FormatFloat(n, 'g', 4, 64)
}
