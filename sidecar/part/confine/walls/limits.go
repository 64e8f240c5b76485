package walls

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseLimits reads limits such as time=10m,processes=512,memory=4G,file=2G,output=64M,open=4096.
func ParseLimits(text string) (l Limits, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "time":
			l.Time, err = time.ParseDuration(value)
			if err != nil || l.Time <= 0 {
				return l, fmt.Errorf("the limit time is a time such as 90s, 10m or 2h, not %q", value)
			}
		case "processes":
			l.Processes, err = count(name, value)
		case "open":
			l.Open, err = count(name, value)
		case "memory":
			l.Memory, err = size(name, value)
		case "file":
			l.File, err = size(name, value)
		case "output":
			l.Output, err = size(name, value)
		default:
			return l, fmt.Errorf("there is no limit %q; there are time, processes, memory, file, output and open", name)
		}
		if err != nil {
			return l, err
		}
	}
	return l, nil
}

func count(name, value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("the limit %s is a whole number above 0, not %q", name, value)
	}
	return n, nil
}

func size(name, value string) (int64, error) {
	digits := strings.TrimRight(value, "KMGT")
	n, err := strconv.ParseInt(digits, 10, 64)
	if unit := value[len(digits):]; err == nil && len(unit) <= 1 {
		shift := 10 * (1 + strings.Index("KMGT", unit))
		if unit == "" {
			shift = 0
		}
		if n > 0 && n <= math.MaxInt64>>shift {
			return n << shift, nil
		}
	}
	return 0, fmt.Errorf("the limit %s is a size such as 64M or 4G, not %q", name, value)
}
