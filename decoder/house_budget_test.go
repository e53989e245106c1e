package decoder_test

// Budgets count the cases of a rule that each folder may still have. They only
// ever fall, and a folder that keeps the rule has no row. To see them:
//
//	go test -v -run 'TestHouse/sentences' ./decoder | grep ' pt/'

// sentenceBudgets are the sentences of more than maxSentence words.
var sentenceBudgets = map[string]int{
	".":                            8,
	"cmd/ptdecode":                 12,
	"cmd/ptdecode/internal/output": 18,
	"coresight":                    11,
	"coresight/etmv3":              16,
	"coresight/etmv4":              19,
	"coresight/internal/tracetest": 2,
	"coresight/internal/wire":      6,
	"coresight/itm":                5,
	"coresight/ptm":                16,
	"coresight/stm":                5,
	"decoder":                      47,
	"decoder/event":                4,
	"decoder/flow":                 55,
	"decoder/internal/perfdata":    9,
	"decoder/internal/sim":         24,
	"decoder/isa":                  4,
	"decoder/isa/a32":              19,
	"decoder/isa/a64":              8,
	"decoder/isa/x86":              8,
	"decoder/rows":                 14,
	"decoder/snapshot":             2,
	"docs":                         64,
	"docs/formats":                 88,
	"pt":                           20,
	"testdata/flow":                2,
}
