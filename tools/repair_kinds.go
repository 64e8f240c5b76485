package tools

// Kinds of change that RepairJSON records. They are stable: logs and metrics
// count them.
const (
	KindQuote    = "json.quote"    // a quote added, dropped or replaced around a key or a value
	KindEscape   = "json.escape"   // a character in a string escaped, or a bad escape mended
	KindComma    = "json.comma"    // a comma added or dropped
	KindColon    = "json.colon"    // a colon added, dropped or put for another sign
	KindCloser   = "json.closer"   // a bracket or brace added, dropped or moved
	KindLiteral  = "json.literal"  // True, None, undefined, NaN and the like
	KindNumber   = "json.number"   // a number completed, or kept as a string
	KindValue    = "json.value"    // null put where a value is missing
	KindConcat   = "json.concat"   // "a" + "b" joined
	KindComment  = "json.comment"  // a comment dropped
	KindEllipsis = "json.ellipsis" // "..." dropped
	KindSpace    = "json.space"    // white space that JSON does not know
	KindFence    = "json.fence"    // a code fence dropped
	KindWrapper  = "json.wrapper"  // callback(…), ObjectId(…) or (…) around a value dropped
	KindProse    = "json.prose"    // text before, after or between values dropped
	KindSequence = "json.sequence" // several values put into one array
)
