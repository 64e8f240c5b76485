package decisions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Sum is a SHA-256 hash.
type Sum [sha256.Size]byte

// String returns hex digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText returns hex digits.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads 64 hex digits.
func (s *Sum) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(s)) {
		return errors.New("a hash has 64 hex digits")
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// A line is {…,"hash":"<64 digits>"}. The hash covers Prev and the bytes of the line without its last
// member, so a verifier need not know how JSON is written here.
const (
	hashOpens = `,"hash":"`
	hashEnds  = `"}`
	hashTail  = len(hashOpens) + 2*sha256.Size + len(hashEnds)
)

// chainHash returns the hash of a record from the previous hash and its line up to hashOpens.
func chainHash(prev Sum, body []byte) (s Sum) {
	h := sha256.New()
	h.Write(prev[:])
	h.Write(body)
	h.Write([]byte("}"))
	h.Sum(s[:0])
	return s
}

// append writes the record as a line to buf and sets its hash.
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
	r.Hash = chainHash(r.Prev, buf.Bytes()[from:])
	buf.WriteString(hashOpens + r.Hash.String() + hashEnds + "\n")
	return nil
}

var (
	errNoRecord = errors.New("this is not a record")
	errChanged  = errors.New("it was changed: its hash does not fit")
)

// parse reads a line without its newline. With errChanged, the record is what the changed line says.
func parse(line []byte) (r Record, err error) {
	cut := len(line) - hashTail
	if cut < 0 || json.Unmarshal(line, &r) != nil || r.Seq == 0 {
		return r, errNoRecord
	}
	sum := chainHash(r.Prev, line[:cut])
	if string(line[cut:]) == hashOpens+sum.String()+hashEnds {
		r.Hash = sum
		return r, nil
	}
	var stored struct{ Hash Sum } // what the record after it goes on from, most likely
	_ = json.Unmarshal(line, &stored)
	r.Hash = stored.Hash
	return r, errChanged
}

// chainChecker knows which record comes next in a chain.
type chainChecker struct {
	nextSeq uint64 // 0: any
	prev    Sum
	open    bool // prev is unknown: the record before is damaged
}

// next returns what is wrong with the place of a record, or "". broken is the error of parse: such a
// record has a place if the one that it says fits.
func (f *chainChecker) next(r *Record, broken error) string {
	if broken != nil && r.Seq != f.nextSeq { // what it says of its place may be what was changed
		r.Seq = f.nextSeq
		f.nextSeq, f.open = f.nextSeq+1, true
		return broken.Error()
	}
	problem := f.place(r)
	if problem == "" && broken != nil {
		problem = broken.Error()
	}
	if r.Seq >= f.nextSeq {
		f.nextSeq, f.prev, f.open = r.Seq+1, r.Hash, r.Hash == Sum{}
	}
	return problem
}

// place compares the place that a record says with its real one.
func (f *chainChecker) place(r *Record) string {
	switch {
	case f.nextSeq == 0:
		if r.Seq == 1 && r.Prev != (Sum{}) {
			return "the first record follows on something"
		}
	case r.Seq == f.nextSeq+1:
		return fmt.Sprintf("record %d is missing before it", f.nextSeq)
	case r.Seq > f.nextSeq:
		return fmt.Sprintf("records %d to %d are missing before it", f.nextSeq, r.Seq-1)
	case r.Seq == f.nextSeq-1:
		return fmt.Sprintf("record %d stands here a second time", r.Seq)
	case r.Seq < f.nextSeq:
		return fmt.Sprintf("record %d stands here, after record %d", r.Seq, f.nextSeq-1)
	case !f.open && r.Prev != f.prev:
		return fmt.Sprintf("it does not follow on record %d: one of the two was changed, or put here",
			f.nextSeq-1)
	}
	return ""
}

// Files of a log besides its segments.
const (
	headFile  = "head.json"
	lockFile  = "lock"
	turnsFile = "turns"
	fileMode  = 0o600
	dirMode   = 0o700
)

// headAdvice is what helps if the head of a log is missing.
const headAdvice = "put it back, or begin a new log in another folder"

// readHead reads the head of a log, a record up to which everything was synced; nil if there is none.
// It is in a file of its own, so that a truncated log shows.
func readHead(dir string) (*Checkpoint, error) {
	name := filepath.Join(dir, headFile)
	doc, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var h Checkpoint
	if err := json.Unmarshal(doc, &h); err != nil || h.Seq == 0 {
		return nil, fmt.Errorf("%s: this is not the head of a log; %s", name, headAdvice)
	}
	return &h, nil
}
