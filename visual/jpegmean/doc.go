// Package jpegmean reads block means of a baseline JPEG without decoding its
// pixels.
//
// The mean of half a DCT block depends only on the coefficients whose indices
// are zero or odd, so means of 4x4 pixels follow from the entropy-decoded
// coefficients directly: no inverse transform, no upsampling, no colour
// conversion. This takes about a fifth of the time of a full decode.
//
// [Decode] returns luma means of 4x4 pixels and chroma means of 8x8 pixels for
// grey and YCbCr images with chroma sampling 4:4:4, 4:2:2, 4:4:0 and 4:2:0, with
// or without restart markers. Everything else (progressive, arithmetic coding,
// 12 bit, CMYK, RGB, several scans) is [ErrUnsupported]; the caller decodes such
// a file fully.
//
// Means differ from those of decoded pixels where a decoder clips: an encoder's
// ringing beside white or black averages out here and is cut off there. On
// screenshots at quality 80 the difference is below one level on average and at
// most six. Cells at the right and bottom edge include the encoder's padding.
package jpegmean
