package experiment

import (
	"encoding/binary"
	"strconv"
)

// maxCounted is how many units of a trial are remembered as counted, in addition to those with figures: 8
// bytes each.
const maxCounted = 200_000

// countedUnits holds hashes of the counted units.
type countedUnits map[uint64]struct{}

func hashOf(key string) uint64 {
	h, _ := strconv.ParseUint(key, 16, 64)
	return h
}

// countsAnew records a unit, and reports whether it is new. Beyond maxCounted that is unknown, which
// Repeats tells.
func (t *trial) countsAnew(key string) bool {
	h := hashOf(key)
	if _, known := t.counted[h]; known {
		return false
	}
	if len(t.counted) >= maxCounted {
		t.Repeats = true
		return true
	}
	t.counted[h] = struct{}{}
	return true
}

// packed encodes the hashes for the file.
func (m countedUnits) packed() []byte {
	out := make([]byte, 0, 8*len(m))
	for h := range m {
		out = binary.BigEndian.AppendUint64(out, h)
	}
	return out
}

// countedOf decodes the hashes of a file. Files of earlier versions have only the units.
func countedOf(s *Saved) countedUnits {
	out := make(countedUnits, len(s.Counted)/8+len(s.Units))
	for doc := s.Counted; len(doc) >= 8; doc = doc[8:] {
		out[binary.BigEndian.Uint64(doc)] = struct{}{}
	}
	for _, u := range s.Units {
		out[hashOf(u.Key)] = struct{}{}
	}
	return out
}
