package secrets

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
)

// form is a kind of secret that is found by its form.
type form struct {
	kind    string
	needs   []string // lower case; without one of them nothing can match
	match   *regexp.Regexp
	group   int                    // the secret part of the match; 0: all of it
	confirm func(part string) bool // nil: always
}

// forms are in order: later ones see what earlier ones have replaced.
var forms = []form{
	{kind: "private-key", needs: []string{"-----begin"}, group: 1,
		match: regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])*([\s\S]+?)(?:(?:\s|\\[nr])*-----END|(?:\s|\\[nr])*$)`)},
	{kind: "jwt", needs: []string{"eyj"}, match: regexp.MustCompile(`\beyJ[\w-]{8,}(?:\.[\w-]*)*`)},
	{kind: "github-token", needs: []string{"gh", "github_pat_"}, match: regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,})`)},
	{kind: "gitlab-token", needs: []string{"gl"}, match: regexp.MustCompile(`\bgl(?:pat|ptt|rt|dt|cbt|oas|ft|soat|agent)-[\w.-]{16,}`)},
	{kind: "aws-key", needs: []string{"akia", "asia", "abia", "acca"}, match: regexp.MustCompile(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}`)},
	{kind: "slack-token", needs: []string{"xox", "xapp-", "hooks.slack.com"}, match: regexp.MustCompile(`\b(?:xox[a-z]-|xapp-|xoxe\.)[\w.-]{10,}|hooks\.slack\.com/services/[\w/]{16,}`)},
	{kind: "google-key", needs: []string{"aiza", "ya29.", "gocspx-"}, match: regexp.MustCompile(`\b(?:AIza[\w-]{30,}|ya29\.[\w-]{16,}|GOCSPX-[\w-]{16,})`)},
	{kind: "api-key", needs: []string{"sk", "pk", "rk", "hf_", "gsk", "nvapi", "xai", "r8_", "pplx"}, confirm: isCoded,
		match: regexp.MustCompile(`\b(?:sk|pk|rk|hf|gsk|nvapi|xai|r8|pplx)[-_][\w-]{8,}`)},
	{kind: "token", needs: []string{"npm_", "pypi-", "dop_v1_", "doo_v1_", "hvs.", "hvb.", "hvr.", "sg.", "shp", "glsa_", "dckr_pat_", "tskey-", "lin_api_", "age-secret-key-", "atatt3", "sntrys_", "ntn_", "figd_", "eaac"},
		match: regexp.MustCompile(`\b(?:npm_\w{20,}|pypi-[\w-]{20,}|do[op]_v1_\w{20,}|hv[sbr]\.[\w-]{16,}|SG\.[\w-]{10,}\.[\w-]{10,}|shp(?:at|ca|pa|ss)_\w{16,}|glsa_\w{16,}|dckr_pat_[\w-]{16,}|tskey-[\w-]{16,}|lin_api_\w{16,}|AGE-SECRET-KEY-1\w{16,}|ATATT3[\w=-]{16,}|sntrys_[\w=+/-]{16,}|ntn_\w{16,}|figd_[\w-]{16,}|EAAC\w{24,})`)},
	{kind: "bot-token", needs: []string{":aa"}, match: regexp.MustCompile(`\b\d{8,10}:AA[\w-]{30,}`)},
	{kind: "bearer", needs: []string{"bearer"}, group: 1, match: regexp.MustCompile(`(?i)\bbearer\s+([\w.~+/=-]{6,})`), confirm: isCoded},
	{kind: "basic", needs: []string{"basic"}, group: 1, match: regexp.MustCompile(`(?i)\bbasic\s+([\w+/=-]{6,})`), confirm: isUserPassword},
	{kind: "url-password", needs: []string{"://"}, group: 1, confirm: notPort, match: regexp.MustCompile(`://[^\s/@:"'<>?#«]*:([^\s/"'<>]+|[^\s@"'<>?#]+)@`)},
	{kind: "url-token", needs: []string{"://"}, group: 1, match: regexp.MustCompile(`://([^\s/@:"'<>?#«]{16,})@`)},
	{kind: "user-password", needs: []string{"-u", "user"}, group: 1, confirm: notNumber,
		match: regexp.MustCompile(`(?:^|\s)(?:-u|-U|--user|--proxy-user)(?:=|\s+)?\\?["']?[^\s:"'=]+:([^\s"'\\]+)`)},
	{kind: "user-password", needs: []string{"http", "xh"}, group: 1,
		match: regexp.MustCompile(`\b(?:https?|xhs?)\s(?:[^|;&\n]*?\s)?(?:-a|--auth)(?:=|\s*)\\?["']?[^\s:"'=]+:([^\s"'\\]+)`)},
	{kind: "password", needs: []string{"sshpass", "mysql", "mariadb", "login", "redis-cli", "pass:"}, group: 1,
		match: regexp.MustCompile(`(?:\b(?:sshpass[^|;&\n]*?\s-p\s*|(?:mysql\w*|mariadb[\w-]*)\b[^|;&\n]*?\s-p|(?:docker|podman|buildah|nerdctl|helm)\s[^|;&\n]*?\blogin\s(?:[^|;&\n]*?\s)?-p\s*|` +
			`redis-cli\s(?:[^|;&\n]*?\s)?-a\s*)|-pass(?:in|out)?\s+pass:)["']?([^\s"']+)`)},
}

// kinds returns the kinds of forms and names.
func kinds() []string {
	list := []string{"password", "secret", "cookie"}
	for _, f := range forms {
		list = append(list, f.kind)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (f *form) mayBeIn(lower string, has *pairs) bool {
	return slices.ContainsFunc(f.needs,
		func(need string) bool { return has.all(need) && strings.Contains(lower, need) })
}

// pairs is the set of byte pairs in a text. Most texts lack one that a form needs, and are then not
// searched for it.
type pairs [1 << 16 / 64]uint64

func pairsOf(s string) *pairs {
	var p pairs
	for i := 1; i < len(s); i++ {
		at := uint16(s[i-1])<<8 | uint16(s[i])
		p[at/64] |= 1 << (at % 64)
	}
	return &p
}

// all reports whether the set has each pair of a word.
func (p *pairs) all(word string) bool {
	for i := 1; i < len(word); i++ {
		if at := uint16(word[i-1])<<8 | uint16(word[i]); p[at/64]&(1<<(at%64)) == 0 {
			return false
		}
	}
	return true
}

func (f *form) replace(s string, put func(kind, secret string) string) string {
	var out strings.Builder
	end := 0
	for _, m := range f.match.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[2*f.group], m[2*f.group+1]
		part := s[from:to]
		if maskOnly.MatchString(part) || f.confirm != nil && !f.confirm(part) {
			continue
		}
		out.WriteString(s[end:from])
		out.WriteString(put(f.kind, part))
		end = to
	}
	if end == 0 {
		return s
	}
	out.WriteString(s[end:])
	return out.String()
}

// isCoded reports whether a word is no word of a language: it has a digit, or is long.
func isCoded(s string) bool { return strings.ContainsAny(s, "0123456789") || len(s) >= 24 }

// isUserPassword reports whether a word is what the scheme Basic sends.
func isUserPassword(s string) bool {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil && strings.Contains(string(raw), ":")
}

// notPort reports whether s is no port, as in http://host:80/a@b.
func notPort(s string) bool {
	port, _, path := strings.Cut(s, "/")
	return !path || strings.Trim(port, "0123456789") != ""
}

// notNumber excludes the group of user:group.
func notNumber(s string) bool { return strings.Trim(s, "0123456789") != "" }
