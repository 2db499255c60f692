/*
 * Any text as rows of a trace.
 */

#include "trace_try.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{

	try_text(p, n);
	return (0);
}
