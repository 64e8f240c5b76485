package paths

import (
	"slices"
	"strings"
	"unicode"
)

// private says whether the names of a path tell that secrets are in it, though no table of
// secrets has it: wifi-password.txt, backup/home/.config/x. Code and pictures are about them.
// The path is absolute, or below a home folder.
func private(p string) bool {
	rest := strings.Trim(fold(p), "/")
	if e, _ := confidential().find(rest); e != nil {
		return true
	}
	names := strings.Split(strings.Trim(p, "/"), "/")
	last := ending(names[len(names)-1])
	copied := false // it is in a copy of a home folder, or of a system
	for i, name := range names {
		if i > 0 && elsewhere(rest) || (copied || strings.HasPrefix(rest, "dot_")) && undotted(rest) {
			return true
		}
		said := words(name)
		if i == len(names)-1 {
			return tells(said, last, copied, strings.ToLower(p))
		}
		if n := len(said); n > 0 && (folderWords()[said[n-1]] || secretWords()[said[n-1]]) &&
			!codeEnds()[last] {
			return true
		}
		copied = copied || slices.ContainsFunc(said, func(w string) bool { return copyWords()[w] })
		_, rest, _ = strings.Cut(rest, "/")
	}
	return false
}

// elsewhere says whether a path is that of a home folder's programs, or of a system's
// secrets, at another place.
func elsewhere(rest string) bool {
	first, more, _ := strings.Cut(rest, "/")
	switch first {
	case ".config", ".local", ".var", "appdata":
		return true
	case "library":
		return strings.HasPrefix(more, "application support")
	}
	for _, t := range []*tree{absolute(), confidential()} {
		if e, n := t.find(rest); n > 1 && e.read == Secret {
			return true
		}
	}
	return false
}

// undotted says whether a name is a special one without its dot: dotfiles/ssh/config.
func undotted(rest string) bool {
	for _, head := range []string{"private_", "dot_", "dot-", "_"} {
		rest = strings.TrimPrefix(rest, head)
	}
	e, _ := anywhere().find("." + strings.TrimPrefix(rest, "."))
	system, _ := absolute().find("etc/" + rest)
	return e != nil && e.read == Secret || system != nil && system.read == Secret
}

// tells says whether the words of a file's name tell that a secret is in it. The last
// word of prose is what it is about: passwords.md, and not password-reset.md.
func tells(words []string, end string, copied bool, p string) bool {
	if codeEnds()[end] || len(words) == 0 {
		return false
	}
	stem := words
	if end != "" && len(words) > 1 {
		stem = words[:len(words)-1]
	}
	switch {
	case end == "pem":
		return !strings.Contains(p, "cert") && !strings.Contains(p, "pub") &&
			!slices.ContainsFunc(stem,
				func(w string) bool { return w == "ca" || w == "chain" || w == "fullchain" })
	case archives()[end]:
		return copied || slices.ContainsFunc(words,
			func(w string) bool { return copyWords()[w] || secretWords()[w] })
	case proseEnds()[end]:
		stem = stem[max(0, len(stem)-2):]
		return secretWords()[stem[len(stem)-1]] || len(stem) == 2 && paired(stem[0], stem[1])
	}
	for i, w := range words {
		if secretWords()[w] || folderWords()[w] && len(stem) == 1 || i > 0 && paired(words[i-1], w) {
			return true
		}
	}
	return false
}

// paired says whether two words together mean a secret.
func paired(a, b string) bool {
	switch b {
	case "key", "keys":
		return keyOf()[a]
	case "code", "codes":
		return a == "recovery" || a == "backup" || a == "pin" || a == "scratch"
	case "phrase", "phrases", "words":
		return a == "seed" || a == "recovery" || a == "pass"
	case "pass":
		return a == "vault"
	case "conf":
		return a == "wg"
	case "config":
		return a == "wp"
	case "settings":
		return a == "local"
	}
	return false
}

var (
	secretWords = set(`password passwords passwort kennwort passwd passphrase passphrases secret secrets credential credentials creds token tokens apikey apikeys
		authkey privkey privatekey mnemonic mnemonics keyring keystore wallet wallets otp totp logins secring tfvars keytab psk bitwarden lastpass keepass dashlane pux adminsdk`)
	folderWords = set("private keys vpn wireguard openvpn keyrings")
	keyOf       = set("api access secret private recovery signing ssh gpg pgp encryption master deploy account auth bot stripe github gitlab openai anthropic aws")
	copyWords   = set("backup backups bak home dotfiles dots chezmoi archive archives dump dumps snapshot")
	archives    = set("tar tgz tbz txz gz bz2 xz zst zip 7z rar sql dump img iso vdi qcow2 vmdk bak old")
	proseEnds   = set("md mdx rst adoc html org tex")
	codeEnds    = set(`go py js mjs cjs jsx ts mts cts tsx rb rs java kt c h cc cpp hpp cs swift scala ex exs erl hs lua pl pm r jl dart zig vue svelte tf proto css scss
		less sh bash svg png jpg jpeg gif ico webp woff woff2 ttf mp3 mp4 map snap`)
)

// ending is what stands behind the last dot of a name; empty: nothing.
func ending(name string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return ""
	}
	return strings.ToLower(name[dot+1:])
}

// words are those of a name, in lower case: dbPassword_2.txt has db, password and txt.
func words(name string) (out []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			out, word = append(out, strings.ToLower(string(word))), word[:0]
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r):
			end()
		case unicode.IsUpper(r) && lower:
			end()
			word = append(word, r)
		default:
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	end()
	return out
}
