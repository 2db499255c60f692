/*
 * bench_sweep: what a second thread brings to a sweep.
 *
 *	bench_sweep CL-REPLAY TRACE [NSAMPLES]
 *
 * Runs the whole command, reading included, over 10 policies and 20 budgets
 * with --jobs 1 and 2 in turn.  Prints rows over NSAMPLES (default 5): the
 * seconds of each, and the ratio of one to the other, pair by pair.  Ends with
 * 1 where the ratio is above LIMIT and two processors were there.
 */

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cl/clock.h"
#include "cl/host.h"
#include "cl/text.h"
#include "bench.h"

#define POLICIES	"lru,fifo,clock,sieve,s3fifo,lfu,arc,2q,wtinylfu,lirs"
#define SIZES		"3%..60%/3%"
#define NSAMPLES	5
#define NSAMPLES_MAX	101
#define LIMIT		0.6

/* The seconds that a sweep takes on that many threads. */
static double
sweep(const char *command, const char *trace, const char *jobs)
{
	uint64_t start = cl_clock_ns();
	int status, null;
	pid_t pid;

	if ((pid = fork()) == 0) {
		if ((null = open("/dev/null", O_WRONLY)) != -1 &&
		    dup2(null, STDOUT_FILENO) != -1)
			(void)execl(command, command, "--jobs", jobs,
			    "--policy", POLICIES, "--cache", SIZES, trace,
			    (char *)NULL);
		_exit(127);
	}
	if (pid == -1 || waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "%s: does not sweep %s\n", command, trace);
		exit(2);
	}
	return ((double)(cl_clock_ns() - start) / 1e9);
}

int
main(int argc, char **argv)
{
	double one[NSAMPLES_MAX], two[NSAMPLES_MAX], ratio[NSAMPLES_MAX];
	uint64_t i, n = NSAMPLES;
	struct cl_err err = { 0 };
	bool wide = cl_host_processors() > 1;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: bench_sweep cl-replay trace [n]\n");
		return (2);
	}
	if (argc == 4 && cl_text_u64(argv[3], CL_SAMPLE_LEAST,
	    NSAMPLES_MAX, &n, &err) != CL_OK)
		bench_die(argv[3], &err);
	for (i = 0; i < n; i++) {
		one[i] = sweep(argv[1], argv[2], "1");
		two[i] = sweep(argv[1], argv[2], "2");
		ratio[i] = two[i] / one[i];
	}
	(void)bench_row("sweep of 200, one thread, s", one, n);
	(void)bench_row("sweep of 200, two threads, s", two, n);
	return (bench_row("two threads / one", ratio, n) > LIMIT && wide);
}
