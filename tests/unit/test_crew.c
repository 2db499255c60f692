/*
 * base/: jobs are done once each, whoever does them.
 */

#include <stdint.h>
#include <string.h>

#include "cl/crew.h"
#include "cl/err.h"
#include "unit.h"

#define NJOBS	1000

struct work {
	uint32_t	done[NJOBS];	/* each is one job's */
};

static void
do_job(void *arg, uint32_t job)
{
	struct work *w = arg;

	w->done[job]++;
}

static void
every_job_is_done_once(void)
{
	struct cl_err err = { 0 };
	struct cl_crew *crew;
	struct work w;
	unsigned threads;
	uint32_t round, i, n;

	for (threads = 0; threads < 5; threads++) {
		assert((crew = cl_crew_new(threads, &err)) != NULL);
		memset(&w, 0, sizeof(w));
		for (round = 1; round <= 200; round++) {
			n = round % 3 == 0 ? NJOBS : round % 7;
			cl_crew_start(crew, do_job, &w, n);
			cl_crew_finish(crew);
			for (i = 0; i < n; i++)
				assert(w.done[i] > 0);
			for (i = 0; i < n; i++)
				w.done[i]--;
		}
		for (i = 0; i < NJOBS; i++)
			assert(w.done[i] == 0);
		cl_crew_free(crew);
	}
}

static void
finishing_nothing_returns(void)
{
	struct cl_err err = { 0 };
	struct cl_crew *crew = cl_crew_new(2, &err);
	struct work w;

	assert(crew != NULL);
	cl_crew_finish(crew);
	cl_crew_start(crew, do_job, &w, 0);
	cl_crew_finish(crew);
	cl_crew_free(crew);
	cl_crew_free(NULL);
}

/* It is freed in the midst of them. */
static void
freeing_waits_for_what_was_begun(void)
{
	struct cl_err err = { 0 };
	struct cl_crew *crew;
	struct work w;
	uint32_t round, i;

	for (round = 0; round < 100; round++) {
		assert((crew = cl_crew_new(3, &err)) != NULL);
		memset(&w, 0, sizeof(w));
		cl_crew_start(crew, do_job, &w, NJOBS);
		cl_crew_free(crew);
		for (i = 0; i < NJOBS; i++)
			assert(w.done[i] <= 1);
		memset(&w, 0xff, sizeof(w));
	}
}

static const struct unit units[] = {
	{ "every job is done once, by any number of threads",
	    every_job_is_done_once },
	{ "finishing nothing returns at once", finishing_nothing_returns },
	{ "freeing waits for the jobs that were begun",
	    freeing_waits_for_what_was_begun },
};

UNIT_MAIN(units)
