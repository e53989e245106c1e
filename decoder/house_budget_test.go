package decoder_test

// Budgets count the cases of a rule that each folder may still have. They only
// ever fall, and a folder that keeps the rule has no row. This lists the cases,
// and the rows as they are now:
//
//	go test -v -run TestBudgets ./decoder | grep ' pt/'

// sentenceBudgets are the sentences of more than maxSentence words.
var sentenceBudgets = map[string]int{
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
	"decoder/snapshot":             2,
	"docs":                         4,
	"pt":                           20,
}

// namesakeBudgets are the names that several functions of a package share.
var namesakeBudgets = map[string]int{
	"decoder/flow":              8,
	"decoder/internal/perfdata": 2,
	"kcore":                     6,
}

// packageLines are the lines of code of packages above maxPackageLines.
var packageLines = map[string]int{
	"kcore": 3730,
}

// typeMethods are the methods of types above maxMethods.
var typeMethods = map[string]int{
	"decoder/flow.Walker": 131,
}

// publicBudget is how many public names there are, while they are above maxPublic.
const publicBudget = 391
