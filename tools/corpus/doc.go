// Command corpus plays the cases in its folder cases against a built krometrail, as an agent would: over the protocol's
// standard input and output, on a real browser, with the pages of tools/fixtures.
//
//	go run ./tools/corpus [-run REGEXP] [-v] PROGRAM
//
// A case file holds several cases. A case begins with a line "== name" and goes on with one step a line:
//
//	open /page.html                    open the page in a new tab; it is closed when the case ends
//	TOOL key='text' key=JSON           call a tool; it must succeed
//	!CODE TOOL key=…                   call a tool; it must fail with this error code
//	let NAME PATH TOOL key=…           call a tool and keep a value of its structured content; later $NAME stands for it
//	ref NAME TEXT                      take a snapshot and keep the reference of the target with that name, in any frame
//	result PREFIX                      the page's #result must come to begin so within five seconds
//	text SUBSTRING                     the last answer's text must hold it
//	notext SUBSTRING                   the last answer's text must not hold it
//	seen #rrggbb                       a frame recorded around the last action must show that colour
//	picture #rrggbb                    the picture of the last answer must show that colour
//	smaller BYTES                      the last answer's text must be smaller
//
// In arguments $URL is the origin of the pages, $TMP a folder with files to upload. Lines that begin with # are comments.
package main
