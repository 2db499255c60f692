#ifndef UNIT_H
#define UNIT_H

/*
 * Unit tests: a table of sentences and functions that assert.  Prints TAP;
 * a failed assertion ends the program, which tests/run counts as a failure.
 */

#undef NDEBUG
#include <assert.h>
#include <stddef.h>
#include <stdio.h>

struct unit {
	const char	*sentence;	/* what holds, "a cut trace is refused" */
	void		(*test)(void);
};

static inline int
unit_run(const struct unit *units, size_t n)
{
	size_t i;

	printf("1..%zu\n", n);
	for (i = 0; i < n; i++) {
		units[i].test();
		printf("ok %zu - %s\n", i + 1, units[i].sentence);
		fflush(stdout);
	}
	return (0);
}

#define UNIT_MAIN(table)						\
	int								\
	main(void)							\
	{								\
									\
		return (unit_run(table, sizeof(table) / sizeof((table)[0])));\
	}

#endif /* UNIT_H */
