package segment

import (
	"encoding/base64"
	"errors"
)

// Buffer builds one frame record in memory that it reuses. The payload is decoded to the place it has in the
// file, so a frame's pixels are copied once between the message they came in and the write.
// A Buffer serves one record at a time; it is not safe for concurrent use.
type Buffer struct {
	data    []byte
	payload int
}

// ErrPayloadTooLarge says that a payload is longer than MaxPayload.
var ErrPayloadTooLarge = errors.New("segment: payload too large")

// ErrNotBase64 says that a payload is not standard base64.
var ErrNotBase64 = errors.New("segment: payload is not base64")

// DecodePayload starts a record with the bytes that the base64 text stands for, and returns them. They are
// valid until the next call.
func (b *Buffer) DecodePayload(text []byte) ([]byte, error) {
	if base64.StdEncoding.DecodedLen(len(text))-2 > MaxPayload {
		return nil, ErrPayloadTooLarge
	}
	b.grow(RecordHeaderSize + base64.StdEncoding.DecodedLen(len(text)))
	n, err := decodeBase64(b.data[RecordHeaderSize:], text)
	if err != nil {
		return nil, ErrNotBase64
	}
	if n > MaxPayload {
		return nil, ErrPayloadTooLarge
	}
	b.payload = n
	return b.data[RecordHeaderSize : RecordHeaderSize+n], nil
}

// Finish adds the metadata and returns the complete record. It is valid until the next DecodePayload.
func (b *Buffer) Finish(meta []byte) []byte {
	b.data = append(b.data[:RecordHeaderSize+b.payload], meta...)
	putRecordHeader(b.data, recordHeader{
		kind:       kindFrame,
		payload:    int64(b.payload),
		meta:       int64(len(meta)),
		payloadCRC: checksum(b.data[RecordHeaderSize : RecordHeaderSize+b.payload]),
		metaCRC:    checksum(meta),
	})
	return b.data
}

func (b *Buffer) grow(n int) {
	if cap(b.data) < n {
		b.data = make([]byte, n, n+MaxMeta)
	}
	b.data = b.data[:n]
}
