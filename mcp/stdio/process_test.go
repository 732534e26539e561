package stdio

const serveVariable = "STDIO_TEST_SERVE"

func serveForTest() int { return 0 }
