// Package urls says what a URL is: public, private, a cloud's metadata service, or so
// spelt that nobody should fetch it. It is one guard for the URLs of commands and of
// fetch tools. It is pure: names are looked up through a function, and it never opens
// a connection.
package urls

// The classes of URLs, of which a URL has exactly one.
const (
	Public    = "public"
	Private   = "private"   // an address, or a name, inside a network: RFC 1918, CGNAT, .local …
	Loopback  = "loopback"  // this machine
	Metadata  = "metadata"  // a cloud's metadata service
	Unknown   = "unknown"   // its name has no address
	BadScheme = "badscheme" // neither http nor https
	Malformed = "malformed" // refused rather than interpreted: legacy spellings of addresses, user:password@ …
	Dynamic   = "dynamic"   // only known at run time
)

// Use is one URL that a call would fetch or send to. The tag doc is what operators read.
type Use struct {
	URL     string   `expr:"url" json:"url" doc:"The URL as it would reach the program."`
	Scheme  string   `expr:"scheme" json:"scheme,omitempty" doc:"http or https, in small letters."`
	Host    string   `expr:"host" json:"host,omitempty" doc:"The host in small letters, international names as xn--…, without a dot at its end."`
	Port    int      `expr:"port" json:"port,omitempty" doc:"The port, also where the scheme implies it."`
	Class   string   `expr:"class" json:"class" doc:"What kind of address it is: public, private, loopback, metadata, unknown, badscheme, malformed, dynamic."`
	Method  string   `expr:"method" json:"method" doc:"GET, POST … as far as it is known; GIT for what git fetches; PROXY for a proxy."`
	Dynamic bool     `expr:"dynamic" json:"dynamic,omitempty" doc:"A part of it is only known at run time."`
	Hop     int      `expr:"hop" json:"hop,omitempty" doc:"0 for the URL itself, 1 for the first redirect, and so on."`
	Marks   []string `expr:"marks" json:"marks,omitempty" doc:"What is odd about it: long query, long label, downgrade, port …"`
}
