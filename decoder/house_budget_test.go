package decoder_test

// Budgets count the cases of a rule that each folder may still have. They only
// ever fall, and a folder that keeps the rule has no row. This lists the cases,
// and the rows as they are now:
//
//	go test -v -run TestBudgets ./decoder | grep ' pt/'

// sentenceBudgets are the sentences of more than maxSentence words.
var sentenceBudgets = map[string]int{}

// namesakeBudgets are the names that several functions of a package share.
var namesakeBudgets = map[string]int{}

// packageLines are the lines of code of packages above maxPackageLines.
var packageLines = map[string]int{}

// typeMethods are the methods of types above maxMethods.
var typeMethods = map[string]int{}

// publicBudget is how many public names there are, while they are above maxPublic.
const publicBudget = 0
