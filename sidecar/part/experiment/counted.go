package experiment

import (
	"encoding/binary"
	"strconv"
)

// maxCounted is how many units of a trial are known to have been counted, beside those whose figures are
// remembered: 8 bytes each.
const maxCounted = 200_000

// countedUnits are the hashes of units that were counted.
type countedUnits map[uint64]struct{}

func hashOf(key string) uint64 {
	h, _ := strconv.ParseUint(key, 16, 64)
	return h
}

// countsAnew notes a unit that is to be counted, and reports whether it is a new one. Behind
// maxCounted that is unknown, and Repeats says so.
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

// packed are the hashes as a file keeps them.
func (m countedUnits) packed() []byte {
	out := make([]byte, 0, 8*len(m))
	for h := range m {
		out = binary.BigEndian.AppendUint64(out, h)
	}
	return out
}

// countedOf are those of a file. One of an earlier version has the units alone.
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
