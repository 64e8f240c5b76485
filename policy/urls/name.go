package urls

import "strings"

const (
	longName = 100 // longest usual name in bytes
	longPart = 20  // letters and digits in a row that are no word
)

// isName reports whether a lower-case s can be a host name. Letters beyond a to z are refused: programs map
// them to different names.
func isName(s string) bool {
	if len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := 0; i < len(label); i++ {
			if !nameByte(label[i]) {
				return false
			}
		}
	}
	return true
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// longRun reports whether a label has a run of letters and digits that looks like data.
func longRun(label string) bool {
	for part := range strings.FieldsFuncSeq(label, func(r rune) bool { return r == '-' || r == '_' }) {
		if len(part) >= longPart {
			return true
		}
	}
	return false
}

// nameClass returns the class of a name before it is resolved.
func nameClass(name string) string {
	if c := names[name]; c != "" {
		return c
	}
	_, zone, long := strings.Cut(name, ".")
	for more := long; more; _, zone, more = strings.Cut(zone, ".") {
		if c := zones[zone]; c != "" {
			return c
		}
	}
	if !long || zones[name] != "" {
		return Private // a short name: the search list of the network decides what it is
	}
	return Public
}

// names are hosts of a fixed class.
var names = map[string]string{
	"localhost": Loopback, "localhost.localdomain": Loopback, "localhost4": Loopback, "localhost6": Loopback,
	"localhost4.localdomain4": Loopback, "localhost6.localdomain6": Loopback, "ip6-localhost": Loopback,
	"ip6-loopback": Loopback,
	"loopback":     Loopback, "metadata": Metadata, "metadata.google.internal": Metadata,
	"metadata.goog":           Metadata,
	"metadata.azure.internal": Metadata, "metadata.tencentyun.com": Metadata,
	"metadata.platformequinix.com": Metadata,
	"api.metadata.cloud.ibm.com":   Metadata, "instance-data": Metadata,
	"instance-data.ec2.internal": Metadata,
}

// zones are suffixes of names that are not on the public internet, or under which a name spells out its
// address.
var zones = map[string]string{
	"localhost": Loopback, "metadata.goog": Metadata, "metadata.google.internal": Metadata,
	"local": Private, "localdomain": Private, "internal": Private, "intranet": Private, "lan": Private,
	"home":      Private,
	"home.arpa": Private, "corp": Private, "private": Private, "svc": Private, "cluster": Private,
	"test":    Private,
	"invalid": Private, "onion": Private, "i2p": Private, "alt": Private, "localdomain4": Private,
	"localdomain6": Private,
	"nip.io":       Private, "sslip.io": Private, "xip.io": Private, "traefik.me": Private,
	"backname.io":  Private,
	"localtest.me": Loopback, "lvh.me": Loopback, "vcap.me": Loopback, "lacolhost.com": Loopback,
	"rbndr.us": Private, "1u.ms": Private,
}
