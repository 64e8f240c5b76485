package jsonschema

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// formatOf is the check of a format. Those that are not known, and regex, are not checked.
func formatOf(name string) func(string) bool {
	switch name {
	case "date-time":
		return isDateTime
	case "date":
		return isDate
	case "time":
		return isTime
	case "duration":
		return isDuration
	case "email":
		return isEmail
	case "hostname":
		return isHostname
	case "ipv4":
		return isIPv4
	case "ipv6":
		return isIPv6
	case "uri", "iri":
		return isURI
	case "uri-reference", "iri-reference":
		return isReference
	case "uuid":
		return isUUID
	case "json-pointer":
		return isPointer
	}
	return nil
}

func isURI(s string) bool {
	u := address(s)
	return u != nil && u.IsAbs()
}

func isReference(s string) bool { return !strings.Contains(s, `\`) && address(s) != nil }

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func isDateTime(s string) bool {
	return len(s) > 11 && (s[10] == 'T' || s[10] == 't') && isDate(s[:10]) && isTime(s[11:])
}

// isTime takes the leap second, too, which is the last of a day in UTC.
func isTime(s string) bool {
	clock, rest := cut(s, 8)
	h, m, ok := hoursMinutes(clock[:min(5, len(clock))])
	if !ok || h > 23 || m > 59 || len(clock) < 8 || clock[5] != ':' || !digits(clock[6:]) ||
		clock[6:] > "60" {
		return false
	}
	if fraction, ok := strings.CutPrefix(rest, "."); ok {
		rest = strings.TrimLeft(fraction, "0123456789")
		if rest == fraction {
			return false
		}
	}
	minute := h*60 + m
	if rest != "Z" && rest != "z" {
		if len(rest) != 6 || rest[0] != '+' && rest[0] != '-' {
			return false
		}
		zh, zm, ok := hoursMinutes(rest[1:])
		if !ok || zh > 23 || zm > 59 {
			return false
		}
		if rest[0] == '+' {
			zh, zm = -zh, -zm
		}
		minute = (minute + zh*60 + zm + 24*60) % (24 * 60)
	}
	return clock[6:] != "60" || minute == 23*60+59
}

func cut(s string, n int) (front, rest string) { n = min(n, len(s)); return s[:n], s[n:] }

func hoursMinutes(s string) (h, m int, ok bool) {
	if len(s) != 5 || s[2] != ':' || !digits(s[:2]) || !digits(s[3:]) {
		return 0, 0, false
	}
	h, _ = strconv.Atoi(s[:2])
	m, _ = strconv.Atoi(s[3:])
	return h, m, true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isDuration(s string) bool {
	s, ok := strings.CutPrefix(s, "P")
	if weeks, inWeeks := strings.CutSuffix(s, "W"); ok && inWeeks && digits(weeks) {
		return true
	}
	days, clock, timed := strings.Cut(s, "T")
	return ok && s != "" && amounts(days, "YMD") && amounts(clock, "HMS") && timed == (clock != "")
}

// amounts reports whether s are numbers with units, in the order of the units.
func amounts(s, units string) bool {
	for s != "" {
		rest := strings.TrimLeft(s, "0123456789")
		if rest == s || rest == "" {
			return false
		}
		i := strings.IndexByte(units, rest[0])
		if i < 0 {
			return false
		}
		units, s = units[i+1:], rest[1:]
	}
	return true
}

func isEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 0 || at > 64 || len(s) > 254 {
		return false
	}
	local, domain := s[:at], s[at+1:]
	if len(local) > 1 && local[0] == '"' && local[at-1] == '"' {
		if strings.ContainsAny(local[1:at-1], `\"`) {
			return false
		}
	} else if strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") ||
		strings.Contains(local, "..") ||
		!every(local, func(r rune) bool {
			return alphanumeric(r) || strings.ContainsRune(".!#$%&'*+-/=?^_`{|}~", r)
		}) {
		return false
	}
	if inner, ok := strings.CutPrefix(domain, "["); ok && strings.HasSuffix(inner, "]") {
		inner = strings.TrimSuffix(inner, "]")
		if six, ok := strings.CutPrefix(inner, "IPv6:"); ok {
			return isIPv6(six)
		}
		return isIPv4(inner)
	}
	return isHostname(domain)
}

func isHostname(s string) bool {
	s = strings.TrimSuffix(s, ".")
	for label := range strings.SplitSeq(s, ".") {
		if len(label) < 1 || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			!every(label, func(r rune) bool { return alphanumeric(r) || r == '-' }) {
			return false
		}
	}
	return len(s) <= 253
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

func isUUID(s string) bool {
	hex := func(r rune) bool { return r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F' }
	parts := strings.Split(s, "-")
	for i, n := range []int{8, 4, 4, 4, 12} {
		if len(parts) != 5 || len(parts[i]) != n || !every(parts[i], hex) {
			return false
		}
	}
	return true
}

func isPointer(s string) bool {
	for i := range len(s) {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return s == "" || s[0] == '/'
}

func every(s string, is func(rune) bool) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !is(r) }) < 0
}

func alphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
