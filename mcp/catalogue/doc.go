// Package catalogue turns the operation registry into tools: names, descriptions, schemas and annotations, and the
// strict decoding of arguments.
//
// Schemas come from the request types. Field tags carry what a type cannot say: doc is the description; enum, min,
// max, minlen, maxlen, minitems, maxitems and pattern are constraints; default is the documented default; type
// narrows a raw JSON field. On slices min and max count elements, enum and maxlen concern each element. A field
// without omitempty is required.
package catalogue
