package paths

import "strings"

var (
	secretFile     = &entry{Secret, Secret}
	automationFile = &entry{"", Automation}
	gitPersist     = &entry{"", Persist}
	gitFolder      = &entry{"", VCS}
)

// fileKind returns what the name of a file means: .env, a private key. Copies by editors and people are of
// the same kind.
func fileKind(name string) *entry {
	for _, copied := range lists.List("copies") {
		if rest, ok := strings.CutSuffix(name, copied); ok && rest != "" {
			if e, n := anywhere().find(rest); n == 1 {
				return e
			}
			return fileKind(rest)
		}
	}
	dot := strings.LastIndexByte(name, '.')
	code := dot >= 0 && sourceEndings()[name[dot+1:]]
	if e, _ := files().find(name); e != nil && !(code && e.read == Secret) {
		return e
	}
	if code {
		return nil
	}
	if rest, ok := strings.CutPrefix(name, ".env"); ok && rest != "" && (rest[0] == '.' || rest[0] == '-' ||
		rest[0] == '_') {
		if isTemplate(rest[1:]) {
			return nil
		}
		return secretFile
	}
	for _, key := range lists.List("keys") {
		if rest, ok := strings.CutPrefix(name, key); ok && !strings.HasSuffix(rest, ".pub") &&
			(rest == "" || !isWordByte(rest[0])) {
			return secretFile
		}
	}
	if dot < 0 {
		return nil
	}
	if secretEndings()[name[dot+1:]] {
		return secretFile
	}
	switch stem := name[:dot]; name[dot+1:] {
	case "pem":
		if strings.Contains(stem, "key") && !strings.Contains(stem, "pub") || strings.Contains(stem, "priv") {
			return secretFile
		}
	case "env":
		if !isTemplate(stem) {
			return secretFile
		}
	case "pth":
		return automationFile
	}
	return nil
}

var (
	sourceEndings = lists.Set("sources")
	secretEndings = lists.Set("secret-endings")
	templates     = lists.Set("templates")
)

// isTemplate reports whether an environment file is one to be filled in.
func isTemplate(name string) bool {
	for part := range strings.FieldsFuncSeq(name,
		func(r rune) bool { return r == '.' || r == '-' || r == '_' }) {
		if templates()[part] {
			return true
		}
	}
	return false
}

func isWordByte(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' }

// gitKind returns what a path in a folder of git is: what git runs or obeys, a lock or a message, or its
// store.
func gitKind(folder, inside string) *entry {
	for part, rest := "", inside; rest != ""; {
		part, rest, _ = strings.Cut(rest, "/")
		if part == "hooks" || rest == "" && (part == "config" || part == "config.worktree" ||
			part == "attributes" || part == "alternates") {
			return gitPersist
		}
	}
	switch name := inside[strings.LastIndexByte(inside, '/')+1:]; {
	case folder != ".git", strings.HasSuffix(name, ".lock"), strings.HasSuffix(name, "_msg"),
		strings.HasSuffix(name, "_editmsg"):
		return nil
	}
	return gitFolder
}
