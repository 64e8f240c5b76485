package urls

import "net/netip"

// Lookup gives the addresses of a host, as a resolver does.
type Lookup func(host string) ([]netip.Addr, error)

// Literal classifies a URL that a fetch tool was given, by what it says alone.
func Literal(url, method string) Use { return Use{URL: url, Method: method, Class: Malformed} }

// Word classifies a URL as a shell hands it to a program. One without a scheme is
// taken as the program takes it, as http://.
func Word(url string, dynamic bool, method string) Use {
	u := Literal(url, method)
	u.Dynamic = dynamic
	return u
}

// Follow classifies a URL and all that it redirects to, with every address that each
// name has. A nil lookup asks nobody.
func Follow(url, method string, redirects []string, lookup Lookup) []Use {
	return []Use{Literal(url, method)}
}
