package segment

import (
	"errors"
	"fmt"
	"io"
)

// Record is one frame record found by Scan.
type Record struct {
	// Offset is where the payload begins; Payload is its length in bytes.
	Offset  int64
	Payload int64
	// Meta is the record's metadata. It is valid during the visit only.
	Meta []byte
}

// Extent says how much of a file is good.
type Extent struct {
	Header Header
	// End is the offset behind the last complete frame record.
	End    int64
	Frames uint64
	// Sealed says that a valid seal follows End and nothing follows the seal.
	Sealed bool
	// Damage is why the scan ended before the end of the file; nil when it did not.
	Damage error
}

// Scan reads a whole segment of size bytes and visits its complete records in order. It stops without error at
// the first incomplete or damaged record: Extent says where. The error is a header error of this package, a
// read error, or what visit returned.
func Scan(r io.ReaderAt, size int64, visit func(Record) error) (Extent, error) {
	header, err := ReadHeader(r, size)
	if err != nil {
		return Extent{}, err
	}
	s := scanner{r: r, size: size, extent: Extent{Header: header, End: HeaderSize}}
	for !s.done && err == nil {
		err = s.next(visit)
	}
	return s.extent, err
}

// ReadHeader reads and checks the file header.
func ReadHeader(r io.ReaderAt, size int64) (Header, error) {
	b := make([]byte, min(size, HeaderSize))
	if _, err := r.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return Header{}, err
	}
	return DecodeHeader(b)
}

type scanner struct {
	r      io.ReaderAt
	size   int64
	extent Extent
	body   []byte
	done   bool
}

func (s *scanner) stop(damage error) { s.done, s.extent.Damage = true, damage }

func (s *scanner) next(visit func(Record) error) error {
	at := s.extent.End
	if at == s.size {
		s.done = true
		return nil
	}
	h, err := s.readHeader(at)
	if err != nil || s.done {
		return err
	}
	payload, meta, err := s.readBody(at, h)
	if err != nil || s.done {
		return err
	}
	if h.kind == kindSeal {
		s.seal(decodeSeal(meta), at)
		return nil
	}
	if err := visit(Record{Offset: at + RecordHeaderSize, Payload: int64(len(payload)), Meta: meta}); err != nil {
		return err
	}
	s.extent.End = at + h.size()
	s.extent.Frames++
	return nil
}

func (s *scanner) seal(seal Seal, at int64) {
	switch {
	case seal.End != at || seal.Frames != s.extent.Frames:
		s.stop(fmt.Errorf("%w: seal does not match", ErrCorrupt))
	case at+SealSize != s.size:
		s.stop(fmt.Errorf("%w: bytes behind the seal", ErrCorrupt))
	default:
		s.done, s.extent.Sealed = true, true
	}
}

func (s *scanner) readHeader(at int64) (recordHeader, error) {
	if at+RecordHeaderSize > s.size {
		s.stop(io.ErrUnexpectedEOF)
		return recordHeader{}, nil
	}
	var b [RecordHeaderSize]byte
	if err := s.read(b[:], at); err != nil || s.done {
		return recordHeader{}, err
	}
	h, err := readRecordHeader(b[:])
	if err != nil {
		s.stop(err)
		return recordHeader{}, nil
	}
	if at+h.size() > s.size {
		s.stop(io.ErrUnexpectedEOF)
	}
	return h, nil
}

func (s *scanner) readBody(at int64, h recordHeader) (payload, meta []byte, err error) {
	n := int(h.payload + h.meta)
	if cap(s.body) < n {
		s.body = make([]byte, n)
	}
	s.body = s.body[:n]
	if err := s.read(s.body, at+RecordHeaderSize); err != nil || s.done {
		return nil, nil, err
	}
	payload, meta = s.body[:h.payload], s.body[h.payload:]
	if checksum(payload) != h.payloadCRC || checksum(meta) != h.metaCRC {
		s.stop(fmt.Errorf("%w: record content", ErrCorrupt))
	}
	return payload, meta, nil
}

// read fills b; a file that became shorter meanwhile ends the scan instead of failing it.
func (s *scanner) read(b []byte, at int64) error {
	if len(b) == 0 { // at the end of the file even this would be EOF
		return nil
	}
	_, err := s.r.ReadAt(b, at)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		s.stop(io.ErrUnexpectedEOF)
		return nil
	}
	return err
}

// ReadPayload reads the payload of n bytes that starts at offset and checks it against its record.
func ReadPayload(r io.ReaderAt, offset, n int64) ([]byte, error) {
	if offset < HeaderSize+RecordHeaderSize || n < 0 || n > MaxPayload {
		return nil, fmt.Errorf("%w: payload position", ErrCorrupt)
	}
	b := make([]byte, RecordHeaderSize+n)
	if _, err := r.ReadAt(b, offset-RecordHeaderSize); err != nil {
		return nil, err
	}
	h, err := readRecordHeader(b[:RecordHeaderSize])
	if err != nil {
		return nil, err
	}
	payload := b[RecordHeaderSize:]
	if h.kind != kindFrame || h.payload != n || checksum(payload) != h.payloadCRC {
		return nil, fmt.Errorf("%w: payload", ErrCorrupt)
	}
	return payload, nil
}

// IsSealed reads only the end of a file of size bytes and reports whether a valid seal is there.
func IsSealed(r io.ReaderAt, size int64) (bool, error) {
	if size < HeaderSize+SealSize {
		return false, nil
	}
	var b [SealSize]byte
	if _, err := r.ReadAt(b[:], size-SealSize); err != nil {
		return false, err
	}
	h, err := readRecordHeader(b[:])
	if err != nil || h.kind != kindSeal || checksum(b[RecordHeaderSize:]) != h.metaCRC {
		return false, nil
	}
	return decodeSeal(b[RecordHeaderSize:]).End == size-SealSize, nil
}
