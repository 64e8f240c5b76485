package parse

import "github.com/jgavinray/gpt-oss-executor/internal/scan"

// verdict is what a look at text yields that may still grow.
type verdict = scan.Verdict

const no, yes, wait = scan.No, scan.Yes, scan.Wait
