package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync/atomic"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// parquet writes a file for each table in Apache Parquet's format (parquet-format 2.10:
// README.md, Encodings.md, Compression.md, parquet.thrift). All columns are required, and go
// by a dictionary for each row group, but times. Pages of dictionaries are packed by zstd, of calls by Snappy. A row group
// that is full is written by another goroutine, while the next one fills. A third one fills those of calls.
type parquet struct {
	*files
	most    int // rows of a row group; 0: as many as there is room for
	perPage int // rows of a page of calls
	tables  [len(Tables)]parquetTable
	full    chan *rowGroup
	empty   [len(Tables)]chan *rowGroup // written
	done    chan struct{}               // closed when all that was full is written
	calls   callFiller                  // until it ends, tables[tableCalls].filled is its goroutine's

	// What follows is writeFull's, until done is closed.
	zip    *zstd.Encoder
	head   thrift // of a page
	packed []byte
	data   []byte
	ids    []uint16
	err    error
	failed atomic.Bool // err is set
}

// parquetTable is a table's file.
type parquetTable struct {
	filled *rowGroup // nil: no row has come
	total  int64     // rows written
	off    int64     // bytes written
	groups [][]byte  // metadata of each group, as an element of a list
}

// rowGroup is a row group of a table.
type rowGroup struct {
	table   int
	rows    int
	most    int // of rows; of calls up to maxWaiting more
	columns []column
	calls   *callRows // nil: it is another table's
	last    bool      // none follows
}

// rowsPerGroup is how many rows a row group has at most.
const rowsPerGroup = 64 << 10

// rowsPerPage is how many rows of calls a page has at most. Its numbers of 16 bits and what is in front of them take
// 128 KiB, and are packed while they are in a core's cache.
const rowsPerPage = rowsPerGroup - 256

// symbolsName is the column of symbols with their names.
const symbolsName = 2

// maxEmpty is how many row groups of a table are kept to be filled again.
const maxEmpty = 1

// Numbers of parquet.thrift.
const (
	typeInt64, typeBytes                  = 2, 6
	convertedUTF8, convertedUint64        = 0, 14
	convertedInt64                        = 18
	encodingPlain, encodingRLE            = 0, 3
	encodingDelta, encodingDictionary     = 5, 8
	codecNone, codecSnappy, codecZstd     = 0, 1, 6
	pageData, pageDictionary              = 0, 2
	logicalString, logicalTime, unitNanos = 1, 8, 3
	parquetMagic                          = "PAR1"
)

// NewParquet returns an Encoder that writes NAME.parquet in dir for each table chosen.
func NewParquet(dir string, of Choice) (Encoder, error) {
	f, err := newFiles(dir, ".parquet", of)
	if err != nil {
		return nil, err
	}
	// The level would halve blocks to 64 KiB, if it came before the window.
	z, err := zstd.NewWriter(nil, zstd.WithWindowSize(512<<10), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, f.end(err)
	}
	p := &parquet{files: f, perPage: rowsPerPage, zip: z, full: make(chan *rowGroup, 1), done: make(chan struct{})}
	for i := range Tables {
		if p.empty[i] = make(chan *rowGroup, maxEmpty); of[i] {
			p.write(i, []byte(parquetMagic))
		}
	}
	go p.writeFull()
	return p, nil
}

// write writes b to a table's file.
func (p *parquet) write(table int, b []byte) {
	_, err := p.out[table].Write(b)
	if p.err == nil && err != nil {
		p.err = err
		p.failed.Store(true)
	}
	p.tables[table].off += int64(len(b))
}

// toFill returns the row group that the next row of a table goes to.
func (p *parquet) toFill(table int) *rowGroup {
	t := &p.tables[table]
	if t.filled == nil {
		t.filled = p.newGroup(table)
	}
	return t.filled
}

// apart says that rows of different tables may come from different goroutines.
func (p *parquet) apart() {}

// Row writes a row. It is not one of calls.
func (p *parquet) Row(table int, row []Value) error {
	g := p.toFill(table)
	for i := range row {
		if c := &g.columns[i]; c.kind == Time {
			c.times.takeTime(row[i].N)
		} else if c.kind == Text {
			if row[i].S != c.last.S || g.rows == 0 {
				c.takeText(g.rows, &row[i])
			}
		} else if row[i].N != c.last.N || g.rows == 0 {
			c.takeNumber(g.rows, row[i].N)
		}
	}
	if g.rows++; g.rows < g.most {
		return nil
	}
	return p.hands(g)
}

// hands hands on g, to which no row is added any more.
func (p *parquet) hands(g *rowGroup) error {
	p.full <- g
	p.tables[g.table].filled = nil
	if p.failed.Load() {
		return errFailed
	}
	return nil
}

// errFailed says that writeFull could not write. Close says why.
var errFailed = errors.New("a table could not be written")

// newGroup returns an empty row group of a table.
func (p *parquet) newGroup(table int) *rowGroup {
	select {
	case g := <-p.empty[table]:
		return g
	default:
	}
	g := &rowGroup{table: table, most: rowsPerGroup, columns: make([]column, len(Tables[table].Columns))}
	for i := range g.columns {
		g.columns[i].begin(Tables[table].Columns[i].Kind)
	}
	if table == tableSymbols {
		g.columns[symbolsName].byText = make(map[string]uint32, rowsPerGroup) // nearly all differ
	}
	if table == tableCalls {
		g.calls, g.most = newCallRows(g.columns), callsPerGroup
	}
	if p.most > 0 {
		g.most = p.most
	}
	return g
}

// writeFull writes row groups until no more come.
func (p *parquet) writeFull() {
	defer close(p.done)
	for g := range p.full {
		if p.err == nil && g.rows > 0 {
			p.group(g)
		}
		if g.last {
			p.empty[g.table] = nil
			continue
		}
		g.reset()
		select {
		case p.empty[g.table] <- g:
		default:
		}
	}
}

// ends writes what is left of a table, and gives back the memory of its row groups.
func (p *parquet) ends(table int) {
	if table == tableCalls {
		p.calls.ends()
	}
	g := p.tables[table].filled
	if p.tables[table].filled = nil; g == nil {
		g = &rowGroup{table: table}
	}
	g.last = true
	p.full <- g
}

// reset empties g and keeps its memory.
func (g *rowGroup) reset() {
	g.rows = 0
	for i := range g.columns {
		g.columns[i].forget()
	}
	if g.calls != nil {
		g.calls.empty()
	}
}

// group writes a row group.
func (p *parquet) group(x *rowGroup) {
	t := &p.tables[x.table]
	var g thrift
	begun := t.off
	g.list(1, typeStruct, len(x.columns))
	for i := range x.columns {
		p.chunk(&g, x, i)
	}
	g.number(2, typeI64, t.off-begun)
	g.number(3, typeI64, int64(x.rows))
	g.stop()
	t.groups = append(t.groups, bytes.Clone(g.b))
	t.total += int64(x.rows)
}

// chunk writes a column of a row group, and its ColumnChunk to g.
func (p *parquet) chunk(g *thrift, x *rowGroup, i int) {
	t, c := &p.tables[x.table], &x.columns[i]
	begun, plain := t.off, int64(0)
	physical, codec, encodings := int64(typeInt64), codecOf(c), []int64{encodingPlain, encodingDictionary}
	switch c.kind {
	case Time:
		encodings = []int64{encodingDelta}
	case Text:
		physical = typeBytes
		fallthrough
	default:
		p.data = c.dictionary(p.data[:0])
		plain = p.page(x.table, p.data, pageDictionary, c.distinct(), encodingPlain, codec)
	}
	first := t.off
	plain += p.values(x, c)
	g.begin(0)
	g.number(2, typeI64, begun)
	g.begin(3)
	g.number(1, typeI32, physical)
	g.list(2, typeI32, len(encodings))
	for _, e := range encodings {
		g.value(e)
	}
	g.list(3, typeBinary, 1)
	g.bytes(Tables[x.table].Columns[i].Name)
	g.number(4, typeI32, codec)
	g.number(5, typeI64, int64(x.rows))
	g.number(6, typeI64, plain)
	g.number(7, typeI64, t.off-begun)
	g.number(9, typeI64, first)
	if first > begun {
		g.number(11, typeI64, begun)
	}
	g.stop()
	g.stop()
}

// codecOf returns how pages of c are packed.
func codecOf(c *column) int64 {
	switch {
	case c.kind == Time:
		return codecNone
	case c.key != nil: // of which there are most
		return codecSnappy
	}
	return codecZstd
}

// values writes the data pages of a column, and returns their size as page does.
func (p *parquet) values(x *rowGroup, c *column) int64 {
	k, codec := c.key, codecOf(c)
	switch {
	case c.kind == Time:
		p.data = c.times.whole(p.data[:0])
		return p.page(x.table, p.data, pageData, x.rows, encodingDelta, codec)
	case k == nil:
		p.data, p.ids = c.runs(p.data[:0], p.ids, x.rows)
		return p.page(x.table, p.data, pageData, x.rows, encodingDictionary, codec)
	case !c.mixed && len(k.packed) > 0:
		p.write(x.table, k.packed)
		return int64(k.plain)
	}
	n := int64(0)
	for from := 0; from < x.rows; from += p.perPage {
		to := min(x.rows, from+p.perPage)
		p.data, p.ids = c.keyed(p.data[:0], p.ids, from, to)
		n += p.page(x.table, p.data, pageData, to-from, encodingDictionary, codec)
		if !c.mixed {
			k.packed = append(append(k.packed, p.head.b...), p.packed...)
		}
	}
	if !c.mixed {
		k.plain = int(n)
	}
	return n
}

// page writes a page of n values and returns its size before packing, with its header.
func (p *parquet) page(table int, data []byte, kind int64, n int, encoding, codec int64) int64 {
	switch codec {
	case codecNone:
		p.packed = append(p.packed[:0], data...)
	case codecSnappy:
		p.packed = s2.EncodeSnappy(p.packed[:cap(p.packed)], data)
	default:
		p.packed = p.zip.EncodeAll(data, p.packed[:0])
	}
	h := &p.head
	h.b, h.last = h.b[:0], 0
	h.number(1, typeI32, kind)
	h.number(2, typeI32, int64(len(data)))
	h.number(3, typeI32, int64(len(p.packed)))
	if kind == pageData {
		h.begin(5)
		h.number(1, typeI32, int64(n))
		h.number(2, typeI32, encoding)
		h.number(3, typeI32, encodingRLE)
		h.number(4, typeI32, encodingRLE)
	} else {
		h.begin(7)
		h.number(1, typeI32, int64(n))
		h.number(2, typeI32, encoding)
	}
	h.stop()
	h.stop()
	p.write(table, h.b)
	p.write(table, p.packed)
	return int64(len(h.b) + len(data))
}

// Close writes what is left, and what the files say of themselves.
func (p *parquet) Close(err error) error {
	p.calls.ends()
	for i := range p.tables {
		if g := p.tables[i].filled; g != nil {
			p.full <- g
		}
	}
	close(p.full)
	<-p.done
	if err != nil {
		p.err = err
	}
	if p.err == nil {
		for i := range Tables {
			if p.list[i] != nil {
				p.footer(i)
			}
		}
	}
	return p.end(p.err)
}

// footer writes a FileMetaData, its length and the magic.
func (p *parquet) footer(table int) {
	t := &p.tables[table]
	var m thrift
	m.number(1, typeI32, 2)
	m.list(2, typeStruct, len(Tables[table].Columns)+1)
	m.begin(0)
	m.text(4, Tables[table].Name)
	m.number(5, typeI32, int64(len(Tables[table].Columns)))
	m.stop()
	for _, c := range Tables[table].Columns {
		m.schema(&c)
	}
	m.number(3, typeI64, t.total)
	m.list(4, typeStruct, len(t.groups))
	begun := t.off
	p.write(table, m.b)
	for _, g := range t.groups {
		p.write(table, g)
	}
	m.b = m.b[:0]
	m.text(6, "ptdecode")
	m.stop()
	p.write(table, m.b)
	p.write(table, append(binary.LittleEndian.AppendUint32(nil, uint32(t.off-begun)), parquetMagic...))
}

// schema appends a SchemaElement.
func (m *thrift) schema(c *Column) {
	m.begin(0)
	physical, converted := int64(typeInt64), int64(-1)
	switch c.Kind {
	case Text:
		physical, converted = typeBytes, convertedUTF8
	case Addr:
		converted = convertedUint64
	case Int:
		converted = convertedInt64
	}
	m.number(1, typeI32, physical)
	m.number(3, typeI32, 0) // required
	m.text(4, c.Name)
	if converted >= 0 {
		m.number(6, typeI32, converted)
	}
	switch c.Kind {
	case Text:
		m.begin(10)
		m.begin(logicalString)
		m.stop()
		m.stop()
	case Time:
		m.begin(10)
		m.begin(logicalTime)
		m.field(1, typeFalse) // a clock of its own, not UTC
		m.begin(2)
		m.begin(unitNanos)
		m.stop()
		m.stop()
		m.stop()
		m.stop()
	}
	m.stop()
}
