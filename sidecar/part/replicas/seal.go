package replicas

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// seal keeps what is kept in the server from being read, made up, or moved to another key by others who can
// write there. Its zero value cannot be used.
type seal struct{ aead cipher.AEAD }

// sealed begins every value. A later version of this program that writes otherwise begins it with
// another one, and each leaves alone what it does not know.
const sealed = "1"

var errForeign = errors.New("the value was not written by a replica with the same secret and version")

func newSeal(secret string) seal {
	// never fails for 32 bytes
	key, _ := hkdf.Key(sha256.New, []byte(secret), nil, "gpt-oss-executor shared 1", 32)
	block, _ := aes.NewCipher(key)
	aead, _ := cipher.NewGCMWithRandomNonce(block)
	return seal{aead}
}

// close makes a value for a place.
func (s seal) close(place string, text []byte) string {
	return sealed + string(s.aead.Seal(nil, nil, text, []byte(place)))
}

// open reads a value of a place.
func (s seal) open(place, value string) ([]byte, error) {
	rest, ok := strings.CutPrefix(value, sealed)
	if !ok {
		return nil, errForeign
	}
	text, err := s.aead.Open(nil, nil, []byte(rest), []byte(place))
	if err != nil {
		return nil, errForeign
	}
	return text, nil
}

// read is open, and says once that there are values that cannot be read.
func (s *Store) read(place, value string) ([]byte, bool) {
	text, err := s.seal.open(place, value)
	if err == nil {
		return text, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.foreign {
		s.foreign = true
		s.Log.Warn("the server that replicas share holds what cannot be read here: another version of this program wrote it, or a replica with another admin_token",
			"event", "shared_foreign", "key", place)
	}
	return nil, false
}

// key is a key of the server. What it is about stands in it as a sum: a session, for example, may
// name a person.
func (s *Store) key(kind, about string) string {
	if about == "" {
		return s.Prefix + ":" + kind
	}
	sum := sha256.Sum256([]byte(about))
	return s.Prefix + ":" + kind + ":" + hex.EncodeToString(sum[:16])
}
