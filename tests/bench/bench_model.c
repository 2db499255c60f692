/*
 * bench_model: how well a modelled run foretells a real one on this machine.
 *
 *	bench_model BINDIR MODEL TRACE [NSAMPLES]
 *
 * A sample of a configuration calibrates for it, and then replays the trace in
 * it, for real and on the device that was found: the machine's speed changes
 * with what else runs on it, so that only what is close in time can be
 * compared.  Reads go past the page cache.  Prints rows over NSAMPLES (default
 * 9): the modelled wall time as a ratio to the real one, and whether that is
 * within LIMIT.  Ends with 1 where one is not.
 */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cl/text.h"
#include "bench.h"

#define NSAMPLES	9
#define NSAMPLES_MAX	101
#define LIMIT		0.15
#define COMMON		"--threads 4 --os-cache direct"
#define REPLAY		COMMON " --warmup 20"
#define LINE		1024

static const struct config {
	const char	*name;
	const char	*all;		/* options of calibrating and replays */
	const char	*replay;	/* of both replays */
	const char	*real;		/* what a device has as compute= */
} configs[] = {
	{ "model.small", "--cache 10%", "", "" },
	{ "model.large", "--cache 50%", "", "" },
	{ "model.small_previous", "--cache 10%", "--prefetch previous",
	    "--compute-us 1000" },
	{ "model.large_oracle", "--cache 50%", "--prefetch oracle",
	    "--compute-us 1000" },
	{ "model.dense_ring", "--cache 25%", "--dense ring", "" },
};

#define NCONFIGS	(sizeof(configs) / sizeof(configs[0]))

static void fail(const char *, const char *) __attribute__((noreturn));

static void
fail(const char *what, const char *command)
{
	struct cl_err err = { 0 };

	(void)cl_fail(&err, CL_EIO, "%s: %s", what, command);
	bench_die("bench_model", &err);
}

/* The rest of the line of a command's output that begins so, into line. */
static void
line_of(const char *command, const char *begin, char line[LINE])
{
	char all[LINE];
	FILE *f = popen(command, "r");
	size_t n = strlen(begin);

	line[0] = '\0';
	if (f == NULL)
		fail("cannot run", command);
	while (fgets(all, sizeof(all), f) != NULL)
		if (strncmp(all, begin, n) == 0 && line[0] == '\0') {
			all[strcspn(all, "\n")] = '\0';
			(void)snprintf(line, LINE, "%s", all + n);
		}
	if (pclose(f) != 0 || line[0] == '\0')
		fail("failed", command);
}

/* The wall time of a replay with such options. */
static double
wall(char *const *argv, const struct config *c, const char *more)
{
	char command[3 * LINE], line[LINE];
	double ns;
	struct cl_err err = { 0 };

	(void)snprintf(command, sizeof(command), "%s/cl-replay " REPLAY
	    " %s %s %s --model %s %s | %s/cl-report -f tsv", argv[1], c->all,
	    c->replay, more, argv[2], argv[3], argv[1]);
	line_of(command, "1\trun\t\tmeasured\twall_ns\t", line);
	if (cl_text_f64(line, 1, 1e18, &ns, &err) != CL_OK)
		bench_die("bench_model", &err);
	return (ns);
}

/* Modelled by real time. */
static double
sample(char *const *argv, const struct config *c)
{
	char command[LINE], device[LINE], model[LINE + 32];
	double real;

	(void)snprintf(command, sizeof(command), "%s/cl-replay --calibrate "
	    "--samples 5 " COMMON " %s %s %s 2>/dev/null", argv[1],
	    c->all, c->real, argv[2]);
	line_of(command, "", device);
	(void)snprintf(model, sizeof(model), "--io model --device %s",
	    device);
	real = wall(argv, c, c->real);
	return (wall(argv, c, model) / real);
}

int
main(int argc, char **argv)
{
	static double v[NCONFIGS][NSAMPLES_MAX];
	double median;
	struct cl_err err = { 0 };
	uint64_t s, n = NSAMPLES;
	size_t i;
	int status = 0;

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: bench_model BINDIR MODEL TRACE "
		    "[NSAMPLES]\n");
		return (2);
	}
	if (argc == 5 && cl_text_u64(argv[4], CL_SAMPLE_LEAST, NSAMPLES_MAX,
	    &n, &err) != CL_OK)
		bench_die("bench_model", &err);
	for (s = 0; s < n; s++)
		for (i = 0; i < NCONFIGS; i++)
			v[i][s] = sample(argv, &configs[i]);
	for (i = 0; i < NCONFIGS; i++) {
		median = bench_row(configs[i].name, v[i], n);
		if (!bench_within(configs[i].name, median, 1 - LIMIT,
		    1 + LIMIT))
			status = 1;
	}
	return (status);
}
