// Package segment is the file format of recorded frames: one append-only file per stretch of a session, made
// of checksummed records and closed by a seal. FORMAT.md shows the layout as a picture.
package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/krometrail/krometrail/core/id"
)

// These numbers are the file format. They never change within a version.
const (
	// magic is "KTSG" read as a little-endian number.
	magic = 0x4753544b
	// Version is the one format version that this package reads and writes.
	Version = 1
	// HeaderSize is the length of the file header in bytes.
	HeaderSize = 64
	// RecordHeaderSize is the length of a record's header in bytes; its payload follows directly.
	RecordHeaderSize = 24
	// SealSize is the length of the record that closes a segment.
	SealSize = RecordHeaderSize + sealMetaSize
	// MaxPayload is the largest payload of a record in bytes.
	MaxPayload = 16 << 20
	// MaxMeta is the largest metadata of a record in bytes.
	MaxMeta = 64 << 10

	sealMetaSize = 16
	idSize       = 16
)

// Kinds of record. Zero is no kind, so that unwritten space is never taken for a record.
const (
	kindFrame = 1
	kindSeal  = 2
)

// What can be wrong with a file, from the outside in.
var (
	// ErrNotASegment: the file does not start with the magic number.
	ErrNotASegment = errors.New("segment: not a segment file")
	// ErrUnsupportedVersion: the magic is right and the version is not ours.
	ErrUnsupportedVersion = errors.New("segment: unsupported version")
	// ErrCorrupt: a checksum or a length is wrong.
	ErrCorrupt = errors.New("segment: corrupt")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// Header is what the file says about itself.
type Header struct {
	ID      id.Segment
	Session id.Session
	// CreatedWallNS is the wall time of creation in nanoseconds since 1970.
	CreatedWallNS int64
}

// EncodeHeader returns the HeaderSize bytes that start a segment file.
func EncodeHeader(h Header) []byte {
	b := make([]byte, HeaderSize)
	binary.LittleEndian.PutUint32(b[0:], magic)
	binary.LittleEndian.PutUint16(b[4:], Version)
	binary.LittleEndian.PutUint16(b[6:], HeaderSize)
	copy(b[8:8+idSize], h.ID)
	copy(b[24:24+idSize], h.Session)
	binary.LittleEndian.PutUint64(b[40:], uint64(h.CreatedWallNS))
	binary.LittleEndian.PutUint32(b[60:], checksum(b[:60]))
	return b
}

// DecodeHeader checks magic, then version, then content, and returns the matching error of this package.
func DecodeHeader(b []byte) (Header, error) {
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != magic {
		return Header{}, ErrNotASegment
	}
	if len(b) < 6 {
		return Header{}, fmt.Errorf("%w: header of %d bytes", ErrCorrupt, len(b))
	}
	if v := binary.LittleEndian.Uint16(b[4:]); v != Version {
		return Header{}, fmt.Errorf("%w: %d, this program reads %d", ErrUnsupportedVersion, v, Version)
	}
	if len(b) < HeaderSize || binary.LittleEndian.Uint32(b[60:]) != checksum(b[:60]) {
		return Header{}, fmt.Errorf("%w: header", ErrCorrupt)
	}
	segmentID, err := id.Parse[id.Segment](string(b[8 : 8+idSize]))
	if err != nil {
		return Header{}, fmt.Errorf("%w: segment identifier", ErrCorrupt)
	}
	session, err := id.Parse[id.Session](string(b[24 : 24+idSize]))
	if err != nil {
		return Header{}, fmt.Errorf("%w: session identifier", ErrCorrupt)
	}
	created := int64(binary.LittleEndian.Uint64(b[40:]))
	return Header{ID: segmentID, Session: session, CreatedWallNS: created}, nil
}

// recordHeader is the decoded header of one record.
type recordHeader struct {
	kind       byte
	payload    int64
	meta       int64
	payloadCRC uint32
	metaCRC    uint32
}

func (h recordHeader) size() int64 { return RecordHeaderSize + h.payload + h.meta }

func putRecordHeader(b []byte, h recordHeader) {
	clear(b[:RecordHeaderSize])
	b[0] = h.kind
	binary.LittleEndian.PutUint32(b[4:], uint32(h.payload))
	binary.LittleEndian.PutUint32(b[8:], uint32(h.meta))
	binary.LittleEndian.PutUint32(b[12:], h.payloadCRC)
	binary.LittleEndian.PutUint32(b[16:], h.metaCRC)
	binary.LittleEndian.PutUint32(b[20:], checksum(b[:20]))
}

func readRecordHeader(b []byte) (recordHeader, error) {
	if binary.LittleEndian.Uint32(b[20:]) != checksum(b[:20]) {
		return recordHeader{}, fmt.Errorf("%w: record header", ErrCorrupt)
	}
	h := recordHeader{
		kind:       b[0],
		payload:    int64(binary.LittleEndian.Uint32(b[4:])),
		meta:       int64(binary.LittleEndian.Uint32(b[8:])),
		payloadCRC: binary.LittleEndian.Uint32(b[12:]),
		metaCRC:    binary.LittleEndian.Uint32(b[16:]),
	}
	known := h.kind == kindFrame || h.kind == kindSeal && h.payload == 0 && h.meta == sealMetaSize
	if !known || h.payload > MaxPayload || h.meta > MaxMeta {
		return recordHeader{}, fmt.Errorf("%w: record of kind %d with %d+%d bytes", ErrCorrupt, h.kind, h.payload, h.meta)
	}
	return h, nil
}

// Seal is the content of the closing record.
type Seal struct {
	// Frames is the number of frame records.
	Frames uint64
	// End is the offset at which the seal record begins.
	End int64
}

func encodeSeal(s Seal) []byte {
	b := make([]byte, SealSize)
	meta := b[RecordHeaderSize:]
	binary.LittleEndian.PutUint64(meta, s.Frames)
	binary.LittleEndian.PutUint64(meta[8:], uint64(s.End))
	putRecordHeader(b, recordHeader{kind: kindSeal, meta: sealMetaSize, payloadCRC: checksum(nil), metaCRC: checksum(meta)})
	return b
}

func decodeSeal(meta []byte) Seal {
	return Seal{Frames: binary.LittleEndian.Uint64(meta), End: int64(binary.LittleEndian.Uint64(meta[8:]))}
}
