package decisions

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jgavinray/gpt-oss-executor/internal/atomicfile"
)

// The files of a log beside its segments.
const (
	keyFile  = "key.pem"
	headFile = "head.json"
	lockFile = "lock"
	fileMode = 0o600
	dirMode  = 0o700
)

// PublicKey checks the signatures of a log. As text it is base64.
type PublicKey string

// ParsePublicKey takes the text of a key, or the name of a file that holds it.
func ParsePublicKey(s string) (PublicKey, error) {
	if doc, err := os.ReadFile(s); err == nil {
		s = strings.TrimSpace(string(doc))
	}
	if raw, err := base64.StdEncoding.DecodeString(s); err != nil || len(raw) != ed25519.PublicKeySize {
		return "", fmt.Errorf("%q is neither a public key nor a file with one: it is 44 characters of base64, as decisions key prints them", s)
	}
	return PublicKey(s), nil
}

// Signature is a place of the chain, signed.
type Signature struct {
	Key PublicKey `json:"key"`
	Sig []byte    `json:"sig"` // base64
}

func (s Signature) valid(at Checkpoint, when time.Time) bool {
	raw, err := base64.StdEncoding.DecodeString(string(s.Key))
	return err == nil && len(raw) == ed25519.PublicKeySize && ed25519.Verify(raw, signed(at, when), s.Sig)
}

// Head is the last place of a log that was signed. It stands in a file of its own, so
// that a log cannot just end earlier.
type Head struct {
	Checkpoint
	Time time.Time `json:"time"`
	Signature
}

// readHead reads the head of a log; nil where there is none.
func readHead(dir string) (*Head, error) {
	name := filepath.Join(dir, headFile)
	doc, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var h Head
	if err := json.Unmarshal(doc, &h); err != nil || !h.valid(h.Checkpoint, h.Time) {
		return nil, fmt.Errorf("%s: it is not what was signed", name)
	}
	return &h, nil
}

// KeyOf is the public key that a log says it is signed with.
func KeyOf(dir string) (PublicKey, error) {
	head, err := readHead(dir)
	switch {
	case err != nil:
		return "", fmt.Errorf("read decisions: %w", err)
	case head == nil:
		return "", fmt.Errorf("read decisions: %s: it is missing", filepath.Join(dir, headFile))
	}
	return head.Key, nil
}

// keys are the secrets of one log: they sign, and sum up arguments.
type keys struct {
	sign   ed25519.PrivateKey
	public PublicKey
	sums   []byte
}

// openKeys reads the key of a log, or makes one where the log is new.
func openKeys(dir string, isNew bool) (*keys, error) {
	name := filepath.Join(dir, keyFile)
	doc, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && isNew {
		doc, err = makeKey(name)
	}
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s: others may read the key, or change it; run: chmod 600 %s", name, name)
	}
	block, _ := pem.Decode(doc)
	if block == nil {
		return nil, fmt.Errorf("%s: it holds no key", name)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := key.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s: it holds no ed25519 key", name)
	}
	sums, err := hkdf.Key(sha256.New, private.Seed(), nil, "sums of arguments", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	public := base64.StdEncoding.EncodeToString(private.Public().(ed25519.PublicKey))
	return &keys{sign: private, public: PublicKey(public), sums: sums}, nil
}

func makeKey(name string) (doc []byte, err error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	doc = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
	return doc, atomicfile.Write(name, doc, fileMode)
}

// at signs a place of the chain.
func (k *keys) at(c Checkpoint, when time.Time) Signature {
	return Signature{Key: k.public, Sig: ed25519.Sign(k.sign, signed(c, when))}
}

// sum is what stands for arguments in the log. Without the key nobody can try which
// secret it was.
func (k *keys) sum(arguments []byte) string {
	h := hmac.New(sha256.New, k.sums)
	h.Write(arguments)
	return hex.EncodeToString(h.Sum(nil))
}
