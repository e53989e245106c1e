package tables

import (
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/compress/zstd"
)

// parquet writes a file for each table in Apache Parquet's format (parquet-format 2.10:
// README.md, Encodings.md, Compression.md, parquet.thrift). All columns are required. Numbers
// are plain, text goes by a dictionary for each row group, pages are packed by zstd.
type parquet struct {
	*files
	tables [len(Tables)]parquetTable
	zip    *zstd.Encoder
	packed []byte
	err    error
}

// parquetTable is a table's file.
type parquetTable struct {
	columns []parquetColumn
	rows    int    // of the row group that is filled
	total   int64  // rows of those before
	off     int64  // bytes written
	groups  []byte // their metadata, as elements of a list
	count   int    // of groups
}

// parquetColumn is a column of the row group that is filled.
type parquetColumn struct {
	numbers []uint64          // or numbers of texts
	ids     map[string]uint64 // of texts
	texts   []byte            // the dictionary's page
}

// rowsPerGroup is how many rows a row group has.
const rowsPerGroup = 64 << 10

// Numbers of parquet.thrift.
const (
	typeInt64, typeBytes                  = 2, 6
	convertedUTF8, convertedUint64        = 0, 14
	convertedInt64                        = 18
	encodingPlain, encodingRLE            = 0, 3
	encodingDictionary                    = 8
	codecZstd                             = 6
	pageData, pageDictionary              = 0, 2
	logicalString, logicalTime, unitNanos = 1, 8, 3
	parquetMagic                          = "PAR1"
)

// NewParquet returns an Encoder that writes NAME.parquet in dir for each table.
func NewParquet(dir string) (Encoder, error) {
	f, err := newFiles(dir, ".parquet")
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, f.end(err)
	}
	p := &parquet{files: f, zip: z}
	for i := range Tables {
		p.tables[i].columns = make([]parquetColumn, len(Tables[i].Columns))
		p.write(i, []byte(parquetMagic))
	}
	return p, nil
}

// write writes b to a table's file.
func (p *parquet) write(table int, b []byte) {
	_, err := p.out[table].Write(b)
	if p.err == nil {
		p.err = err
	}
	p.tables[table].off += int64(len(b))
}

// Row writes a row.
func (p *parquet) Row(table int, row []Value) error {
	t := &p.tables[table]
	for i := range row {
		c := &t.columns[i]
		n := row[i].N
		if Tables[table].Columns[i].Kind == Text {
			n = c.idOf(row[i].S)
		}
		c.numbers = append(c.numbers, n)
	}
	if t.rows++; t.rows == rowsPerGroup {
		p.group(table)
	}
	return p.err
}

// idOf returns the number of a text.
func (c *parquetColumn) idOf(s string) uint64 {
	id, ok := c.ids[s]
	if !ok {
		if c.ids == nil {
			c.ids = map[string]uint64{}
		}
		id = uint64(len(c.ids))
		c.ids[s] = id
		c.texts = append(binary.LittleEndian.AppendUint32(c.texts, uint32(len(s))), s...)
	}
	return id
}

// group writes the row group that was filled.
func (p *parquet) group(table int) {
	t := &p.tables[table]
	if t.rows == 0 {
		return
	}
	var g thrift
	begun := t.off
	g.list(1, typeStruct, len(t.columns))
	for i := range t.columns {
		p.chunk(&g, table, i)
	}
	g.number(2, typeI64, t.off-begun)
	g.number(3, typeI64, int64(t.rows))
	g.stop()
	t.groups = append(t.groups, g.b...)
	t.count++
	t.total += int64(t.rows)
	t.rows = 0
}

// chunk writes a column of a row group, and its ColumnChunk to g.
func (p *parquet) chunk(g *thrift, table, column int) {
	t := &p.tables[table]
	c, kind := &t.columns[column], Tables[table].Columns[column].Kind
	begun, plain := t.off, int64(0)
	var data []byte
	if kind == Text {
		plain += p.page(table, c.texts, pageDictionary, len(c.ids), encodingPlain)
		data = packedNumbers(c.numbers, max(1, bits.Len(uint(len(c.ids)-1))))
	} else {
		data = make([]byte, 0, 8*len(c.numbers))
		for _, n := range c.numbers {
			data = binary.LittleEndian.AppendUint64(data, n)
		}
	}
	first, physical := t.off, int64(typeInt64)
	encodings := []int64{encodingPlain}
	encoding := int64(encodingPlain)
	if kind == Text {
		encoding, physical, encodings = encodingDictionary, typeBytes, []int64{encodingPlain, encodingDictionary}
	}
	plain += p.page(table, data, pageData, len(c.numbers), encoding)

	g.begin(0)
	g.number(2, typeI64, begun)
	g.begin(3)
	g.number(1, typeI32, physical)
	g.list(2, typeI32, len(encodings))
	for _, e := range encodings {
		g.value(e)
	}
	g.list(3, typeBinary, 1)
	g.bytes(Tables[table].Columns[column].Name)
	g.number(4, typeI32, codecZstd)
	g.number(5, typeI64, int64(len(c.numbers)))
	g.number(6, typeI64, plain)
	g.number(7, typeI64, t.off-begun)
	g.number(9, typeI64, first)
	if kind == Text {
		g.number(11, typeI64, begun)
	}
	g.stop()
	g.stop()
	c.numbers, c.texts = c.numbers[:0], c.texts[:0]
	clear(c.ids)
}

// page writes a page of n values and returns its size before packing, with its header.
func (p *parquet) page(table int, data []byte, kind int64, n int, encoding int64) int64 {
	p.packed = p.zip.EncodeAll(data, p.packed[:0])
	var h thrift
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

// packedNumbers is numbers of width bits as RLE_DICTIONARY has them: the width, and one run
// that is packed by bits, the lowest first, up to a multiple of eight numbers.
func packedNumbers(numbers []uint64, width int) []byte {
	groups := (len(numbers) + 7) / 8
	b := binary.AppendUvarint([]byte{byte(width)}, uint64(groups)<<1|1)
	var word uint64
	have := 0
	for i := range groups * 8 {
		if i < len(numbers) {
			word |= numbers[i] << have
		}
		for have += width; have >= 8; have -= 8 {
			b = append(b, byte(word))
			word >>= 8
		}
	}
	return b
}

// Close writes what is left, and what the files say of themselves.
func (p *parquet) Close() error {
	for i := range Tables {
		p.group(i)
		p.footer(i)
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
	m.list(4, typeStruct, t.count)
	m.b = append(m.b, t.groups...)
	m.text(6, "ptdecode")
	m.stop()
	p.write(table, m.b)
	p.write(table, append(binary.LittleEndian.AppendUint32(nil, uint32(len(m.b))), parquetMagic...))
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
