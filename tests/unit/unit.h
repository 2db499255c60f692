#ifndef UNIT_H
#define UNIT_H

/*
 * Unit tests: a table of sentences and functions that assert.  Prints TAP;
 * a failed assertion ends the program, which tests/run counts as a failure.
 */

#undef NDEBUG
#include <assert.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Does a function fail an assertion?  It is called in a process of its own. */
static inline bool
unit_aborts(void (*f)(void))
{
	static const struct rlimit none = { 0, 0 };
	pid_t pid = fork();
	int status;

	assert(pid >= 0);
	if (pid == 0) {
		if (setrlimit(RLIMIT_CORE, &none) != 0 ||
		    freopen("/dev/null", "w", stderr) == NULL)
			_exit(EXIT_FAILURE);
		f();
		_exit(EXIT_SUCCESS);
	}
	assert(waitpid(pid, &status, 0) == pid);
	return (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

#define UNIT_MAIN(table)						\
	int								\
	main(void)							\
	{								\
									\
		return (unit_run(table, sizeof(table) / sizeof((table)[0])));\
	}

#endif /* UNIT_H */
