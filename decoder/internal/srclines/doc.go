// Package srclines says which source lines code was made of, and which functions were
// inlined there, by DWARF 2 to 5 of a file. The source is the specification "DWARF Debugging
// Information Format", version 5, sections 3.3 "Subroutine and Entry Point Entries" and
// 6.2 "Line Number Information" (https://dwarfstd.org). A unit is read when one of its addresses is asked for, and forgotten
// when others take its place. What lies in split files (.dwo) or in a supplementary
// file (dwz) has lines, but no names.
//
// Nothing is believed of a file: package dwarf may panic on a broken one, which then has
// no lines.
package srclines
