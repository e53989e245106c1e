package decoder_test

// Budgets count the cases of a rule that each folder may still have. They only
// ever fall, and a folder that keeps the rule has no row. This lists the cases,
// and the rows as they are now:
//
//	go test -v -run TestBudgets ./decoder | grep ' pt/'

// sentenceBudgets are the sentences of more than maxSentence words.
var sentenceBudgets = map[string]int{
	".":                            8,
	"coresight":                    11,
	"coresight/etmv3":              16,
	"coresight/etmv4":              19,
	"coresight/internal/tracetest": 2,
	"coresight/internal/v3":        2,
	"coresight/internal/wire":      4,
	"coresight/itm":                5,
	"coresight/ptm":                16,
	"coresight/stm":                5,
	"decoder":                      38,
	"decoder/event":                4,
	"decoder/flow":                 55,
	"decoder/internal/perfdata":    9,
	"decoder/internal/sim":         24,
	"decoder/isa":                  4,
	"decoder/isa/a32":              19,
	"decoder/isa/a64":              8,
	"decoder/isa/x86":              8,
	"internal/snapshot":            2,
	"docs":                         38,
	"docs/formats":                 88,
	"pt":                           20,
	"testdata/flow":                2,
}

// namesakeBudgets are the names that several functions of a package share.
var namesakeBudgets = map[string]int{
	"coresight":                 1,
	"coresight/etmv3":           3,
	"coresight/etmv4":           10,
	"coresight/itm":             1,
	"coresight/ptm":             3,
	"coresight/stm":             1,
	"decoder/flow":              8,
	"decoder/internal/perfdata": 2,
	"internal/packettext":       1,
	"kcore":                     6,
	"pt":                        5,
}

// packageLines are the lines of code of packages above maxPackageLines.
var packageLines = map[string]int{
	"kcore": 3730,
}

// typeMethods are the methods of types above maxMethods.
var typeMethods = map[string]int{
	"coresight/etmv4.Decoder": 50,
	"decoder/flow.Walker":     131,
	"pt.Decoder":              47,
}

// publicBudget is how many public names there are, while they are above maxPublic.
const publicBudget = 364
