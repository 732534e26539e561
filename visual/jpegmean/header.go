package jpegmean

import (
	"encoding/binary"
	"fmt"
)

// component is one colour channel as declared by the frame and scan headers.
type component struct {
	id, table byte
	h, v      int // sampling factors
	dc, ac    *huffman
	pred      int32
	scale     int64      // of the DC coefficient
	weights   [64]weight // of the others, in coding order
	plane     []byte
	stride    int
	cellX     int // cells one block spans
	cellY     int
}

// decoder is the state of reading one file.
type decoder struct {
	data       []byte
	pos        int
	width      int
	height     int
	components []component
	quant      [4][64]uint16
	haveQuant  [4]bool
	dc, ac     [4]huffman
	interval   int
	adobeRGB   bool
	bits       bitReader
}

func corrupt(what string) error     { return fmt.Errorf("%w: %s", ErrCorrupt, what) }
func unsupported(what string) error { return fmt.Errorf("%w: %s", ErrUnsupported, what) }

// segment returns the next marker and its payload.
func (d *decoder) segment() (marker byte, body []byte, err error) {
	for d.pos < len(d.data) && d.data[d.pos] != 0xff {
		d.pos++ // stray bytes between segments are tolerated, as decoders do
	}
	for d.pos < len(d.data) && d.data[d.pos] == 0xff {
		d.pos++
	}
	if d.pos >= len(d.data) {
		return 0, nil, corrupt("ends before the scan")
	}
	marker = d.data[d.pos]
	d.pos++
	if marker == markerSOI || marker == markerEOI || marker >= 0xd0 && marker <= 0xd7 || marker == 0 || marker == 1 {
		return marker, nil, nil
	}
	if d.pos+2 > len(d.data) {
		return 0, nil, corrupt("truncated segment")
	}
	n := int(binary.BigEndian.Uint16(d.data[d.pos:]))
	if n < 2 || d.pos+n > len(d.data) {
		return 0, nil, corrupt("truncated segment")
	}
	body = d.data[d.pos+2 : d.pos+n]
	d.pos += n
	return marker, body, nil
}

// header reads up to and including the scan header.
func (d *decoder) header() error {
	if len(d.data) < 4 || d.data[0] != 0xff || d.data[1] != markerSOI {
		return corrupt("no JPEG")
	}
	d.pos = 2
	for {
		m, body, err := d.segment()
		if err != nil {
			return err
		}
		switch {
		case m == markerSOS:
			return d.scan(body)
		case m == markerEOI:
			return corrupt("no scan")
		case isFrame(m):
			err = d.frame(m, body)
		case m == markerDHT:
			err = d.huffman(body)
		case m == markerDQT:
			err = d.quantiser(body)
		case m == markerDRI:
			if len(body) < 2 {
				return corrupt("restart interval")
			}
			d.interval = int(binary.BigEndian.Uint16(body))
		case m == markerAPPE:
			d.adobeRGB = len(body) >= 12 && string(body[:5]) == "Adobe" && body[11] == 0
		}
		if err != nil {
			return err
		}
	}
}

// frame reads the frame header.
func (d *decoder) frame(m byte, b []byte) error {
	if m != markerSOF0 && m != markerSOF1 {
		return unsupported("not sequential Huffman coding")
	}
	if d.components != nil || len(b) < 6 || len(b) < 6+3*int(b[5]) {
		return corrupt("frame header")
	}
	if b[0] != 8 {
		return unsupported("not 8 bit")
	}
	d.height, d.width = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
	if d.width == 0 || d.height == 0 {
		return unsupported("size not in the header")
	}
	n := int(b[5])
	if n != 1 && n != 3 {
		return unsupported("not grey or three components")
	}
	d.components = make([]component, n)
	for i := range d.components {
		c := &d.components[i]
		p := b[6+3*i:]
		c.id, c.h, c.v, c.table = p[0], int(p[1]>>4), int(p[1]&0xf), p[2]
		if c.table > 3 {
			return corrupt("quantiser number")
		}
	}
	return d.sampling()
}

// sampling accepts the chroma samplings whose blocks divide into cells.
func (d *decoder) sampling() error {
	c := d.components
	if len(c) == 1 {
		c[0].h, c[0].v = 1, 1 // a single component is never interleaved
		return nil
	}
	if d.adobeRGB || c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B' {
		return unsupported("RGB")
	}
	for i := range c {
		if c[i].h < 1 || c[i].h > 2 || c[i].v < 1 || c[i].v > 2 || c[i].h > c[0].h || c[i].v > c[0].v {
			return unsupported("chroma sampling")
		}
	}
	return nil
}

func (d *decoder) huffman(b []byte) error {
	for len(b) > 0 {
		if len(b) < 17 {
			return corrupt("Huffman table")
		}
		class, slot := b[0]>>4, b[0]&0xf
		n := 0
		for _, c := range b[1:17] {
			n += int(c)
		}
		if class > 1 || slot > 3 || n > 256 || len(b) < 17+n {
			return corrupt("Huffman table")
		}
		t := &d.dc[slot]
		if class == 1 {
			t = &d.ac[slot]
		}
		if !t.build(b[1:17], b[17:17+n]) {
			return corrupt("Huffman code")
		}
		b = b[17+n:]
	}
	return nil
}

func (d *decoder) quantiser(b []byte) error {
	for len(b) > 0 {
		wide, slot := int(b[0]>>4), b[0]&0xf
		size := 64 * (wide + 1)
		if wide > 1 || slot > 3 || len(b) < 1+size {
			return corrupt("quantiser table")
		}
		for i := range 64 {
			if wide == 1 {
				d.quant[slot][i] = binary.BigEndian.Uint16(b[1+2*i:])
			} else {
				d.quant[slot][i] = uint16(b[1+i])
			}
		}
		d.haveQuant[slot] = true
		b = b[1+size:]
	}
	return nil
}

// scan reads the scan header and checks that it holds the whole image.
func (d *decoder) scan(b []byte) error {
	n := len(d.components)
	if n == 0 || len(b) < 1 {
		return corrupt("scan header")
	}
	if int(b[0]) != n {
		return unsupported("several scans")
	}
	if len(b) < 4+2*n {
		return corrupt("scan header")
	}
	if len(d.components) == 3 && d.adobeRGB {
		return unsupported("RGB")
	}
	for i := range d.components {
		c := &d.components[i]
		slots := b[2+2*i]
		if b[1+2*i] != c.id || slots>>4 > 3 || slots&0xf > 3 || !d.haveQuant[c.table] {
			return corrupt("scan component")
		}
		c.dc, c.ac = &d.dc[slots>>4], &d.ac[slots&0xf]
		if !c.dc.ready || !c.ac.ready {
			return corrupt("missing Huffman table")
		}
	}
	return nil
}
