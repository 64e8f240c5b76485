package urls_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// The edges of ranges: the first and the last address of one, and its public neighbours.
func TestClassOf(t *testing.T) {
	if c := urls.ClassOf(netip.Addr{}); c != urls.Private {
		t.Errorf("no address is %s", c)
	}
	for _, row := range []struct{ before, first, last, after string }{
		{"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
		{"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
		{"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
		{"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
		{"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
		{"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
		{"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
		{"223.255.255.255", "224.0.0.0", "255.255.255.255", ""},
		{"2001:db7:ffff::", "2001:db8::", "2001:db8:ffff::ffff", "2001:db9::"},
		{"2001:ffff::", "2002::", "2002:ffff::ffff", "2003::"},
		{"3ffd:ffff::", "3ffe::", "3fff:fff::ffff", "3fff:1000::"},
		{"", "4000::", "ffff::ffff", ""},
	} {
		for _, s := range []string{row.first, row.last} {
			if c := urls.ClassOf(netip.MustParseAddr(s)); c == urls.Public {
				t.Errorf("%s is public", s)
			}
		}
		for _, s := range []string{row.before, row.after} {
			if a, err := netip.ParseAddr(s); err == nil && urls.ClassOf(a) != urls.Public {
				t.Errorf("%s is %s", a, urls.ClassOf(a))
			}
		}
	}
}

// No spelling of an address that is not public is one.
func TestSpellings(t *testing.T) {
	for _, s := range []string{"127.0.0.1", "10.0.0.5", "169.254.169.254", "192.168.1.1", "172.31.0.9",
		"100.64.0.1", "0.0.0.0"} {
		b := netip.MustParseAddr(s).As4()
		n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
		quad := func(verb string) string {
			return fmt.Sprintf(strings.Repeat("."+verb, 4)[1:], b[0], b[1], b[2], b[3])
		}
		hosts := []string{
			s, s + ".", quad("0x%x"), quad("0%o"), quad("000%d"), quad("0X%X"),
			fmt.Sprint(n), fmt.Sprintf("%#x", n), fmt.Sprintf("%#o", n),
			fmt.Sprintf("%d.%d", b[0], n&0xffffff), fmt.Sprintf("%d.%d.%d", b[0], b[1], n&0xffff),
			fmt.Sprintf("%d.%#x", b[0], n&0xffffff),
			"[" + s + "]", "[::" + s + "]", "[::ffff:" + s + "]", "[::ffff:0:" + s + "]",
			"[64:ff9b::" + s + "]", "[64:ff9b:1::" + s + "]",
			fmt.Sprintf("[::FFFF:%x:%x]", n>>16, n&0xffff), fmt.Sprintf("[2002:%x:%x::1]", n>>16, n&0xffff),
			fmt.Sprintf("[2001:0:1:2:3:4:%x:%x]", ^n>>16, ^n&0xffff), "[2620:fe::5efe:" + s + "]",
			"[2620:fe::200:5efe:" + s + "]",
			"user@" + s, "go.dev@" + s, strings.ReplaceAll(s, ".", "%2e"), strings.ReplaceAll(s, ".", "。"),
			strings.ReplaceAll(s, "1", "①"), s + ".nip.io", strings.ReplaceAll(s, ".", "-") + ".sslip.io",
		}
		for _, h := range hosts {
			for _, u := range []urls.Use{urls.Literal("http://"+h+"/", "GET"),
				urls.Literal("https://"+h+":443", "GET"), urls.Word(h, false, "GET"),
				urls.Word(h+"/x", false, "GET"), urls.Word("git@"+h+":x", false, "GIT")} {
				if u.Class == urls.Public {
					t.Errorf("%s, spelt %s, is public", s, h)
				}
			}
		}
	}
}
