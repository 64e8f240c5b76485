package decisions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// Sum is a SHA-256.
type Sum [sha256.Size]byte

// String is the sum in hex digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText writes hex digits.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads 64 hex digits.
func (s *Sum) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(s)) {
		return errors.New("a hash has 64 hex digits")
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// A line is {…,"hash":"<64 digits>"}. The hash is that of Prev and of the line without
// its last member, byte for byte, so a verifier need not know how JSON is written here.
const (
	hashOpens = `,"hash":"`
	hashEnds  = `"}`
	hashTail  = len(hashOpens) + 2*sha256.Size + len(hashEnds)
)

// chained is the hash of a record: of the hash before and its line up to hashOpens.
func chained(prev Sum, body []byte) (s Sum) {
	h := sha256.New()
	h.Write(prev[:])
	h.Write(body)
	h.Write([]byte("}"))
	h.Sum(s[:0])
	return s
}

// append writes the record as a line after buf, and sets its hash.
func (r *Record) append(buf *bytes.Buffer) error {
	from := buf.Len()
	r.Time = r.Time.UTC().Round(0)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		buf.Truncate(from)
		return fmt.Errorf("record %d: %w", r.Seq, err)
	}
	buf.Truncate(buf.Len() - len("}\n"))
	r.Hash = chained(r.Prev, buf.Bytes()[from:])
	buf.WriteString(hashOpens + r.Hash.String() + hashEnds + "\n")
	return nil
}

var (
	errNoRecord = errors.New("this is not a record")
	errChanged  = errors.New("it was changed: its hash does not fit")
)

// parse reads a line that has no newline. If the error is errChanged, the record is what
// the changed line says.
func parse(line []byte) (r Record, err error) {
	cut := len(line) - hashTail
	if cut < 0 || json.Unmarshal(line, &r) != nil || r.Seq == 0 {
		return r, errNoRecord
	}
	sum := chained(r.Prev, line[:cut])
	if string(line[cut:]) == hashOpens+sum.String()+hashEnds {
		r.Hash = sum
		return r, nil
	}
	var said struct{ Hash Sum } // what the record after it goes on from, most likely
	_ = json.Unmarshal(line, &said)
	r.Hash = said.Hash
	return r, errChanged
}
