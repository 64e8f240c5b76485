package jsontext

func (s *Scanner) number() {
	end, why := Number(s.Doc, s.Pos)
	if why != "" {
		s.fail(why)
		return
	}
	s.Pos = end
}

// Number returns the end of the number at doc[i:], or why there is none.
func Number[T []byte | string](doc T, i int) (end int, why string) {
	if i < len(doc) && doc[i] == '-' {
		i++
	}
	end = digits(doc, i)
	if end == i || doc[i] == '0' && end > i+1 {
		return i, "no value"
	}
	if i = end; i < len(doc) && doc[i] == '.' {
		if end = digits(doc, i+1); end == i+1 {
			return i, "no digit after the point"
		}
	}
	if i = end; i < len(doc) && doc[i]|0x20 == 'e' {
		i++
		if i < len(doc) && (doc[i] == '+' || doc[i] == '-') {
			i++
		}
		if end = digits(doc, i); end == i {
			return i, "no digit in the exponent"
		}
	}
	return end, ""
}

// digits returns the end of the digits at i.
func digits[T []byte | string](doc T, i int) int {
	for i < len(doc) && doc[i]-'0' <= 9 {
		i++
	}
	return i
}
