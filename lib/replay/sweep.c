/*
 * A batch of passes is a job for each run: whoever is free takes the next run
 * and replays the whole batch into it, so that a cache is in one processor's
 * reach for as long as that takes, and runs that are slow leave the others to
 * somebody else.  A run is in one job at a time, and batches are finished in
 * turn; so what a run does cannot depend on who did it.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/crew.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/events.h"
#include "cl/keys.h"
#include "cl/replay.h"
#include "cl/spool.h"
#include "cl/stats_write.h"
#include "cl/sweep.h"
#include "cl/vec.h"

#define BATCH		131072u		/* accesses or events that fill one */

struct run {
	char		*name;
	enum cl_cache_future foresees;
	bool		 collects;	/* and borrows from no other */
	struct cl_spool_stream *stream;
	struct cl_stats_writer *writer;
	struct cl_replay *replay;
	struct cl_err	 err;		/* of its jobs */
};

/* Passes, an event for each column of each pass, and the events' keys. */
struct batch {
	struct cl_pass	*pass;
	size_t		 npasses;
	size_t		 pass_cap;
	struct cl_event	*event;
	size_t		 nevents;
	size_t		 event_cap;
	uint32_t	*key;
	size_t		 nkeys;
	size_t		 key_cap;
};

struct cl_sweep {
	/* fixed at open */
	const struct cl_keys *keys;
	struct cl_crew	*crew;
	struct cl_spool	*spool;

	/* added; while jobs are done, those at work have a run each */
	struct run	*run;
	size_t		 nruns;
	size_t		 run_cap;

	/* the caller's */
	bool		 done;
	struct batch	 batch[2];
	unsigned	 filling;	/* batch; the other is replayed */
	const struct cl_stats_end *end;	/* while runs are finished */
};

struct cl_sweep *
cl_sweep_new(const struct cl_keys *keys, unsigned njobs, const char *dir,
    struct cl_err *err)
{
	struct cl_sweep *s;

	if ((s = calloc(1, sizeof(*s))) == NULL) {
		cl_fail_nomem(err, "a sweep");
		return (NULL);
	}
	s->keys = keys;
	if ((s->crew = cl_crew_new(njobs - 1, err)) == NULL ||
	    (s->spool = cl_spool_new(dir, err)) == NULL) {
		cl_sweep_free(s);
		return (NULL);
	}
	return (s);
}

/* Whose passes serve a run that must have them all, if there is one. */
static struct cl_replay *
collector(const struct cl_sweep *s, const struct cl_replay_options *o)
{
	enum cl_cache_future foresees = o->policy.info->foresees;
	size_t i;

	for (i = 0; i < s->nruns && cl_replay_collects(o); i++)
		if (s->run[i].collects && (foresees == CL_FUTURE_NONE ||
		    s->run[i].foresees == foresees))
			return (s->run[i].replay);
	return (NULL);
}

static int
open_run(struct cl_sweep *s, struct run *run, const char *name,
    const struct cl_model *m, const struct cl_replay_options *options,
    const struct cl_stats_conds *conds, struct cl_err *err)
{
	struct cl_replay_options o = *options;

	o.ahead = collector(s, &o);
	run->foresees = o.policy.info->foresees;
	if ((run->name = cl_vec_strndup(name, strlen(name), err)) == NULL ||
	    (run->stream = cl_spool_stream_new(s->spool, err)) == NULL)
		return (err->code);
	run->writer = cl_stats_writer_new(cl_spool_stream_dst(run->stream),
	    conds, err);
	if (run->writer == NULL)
		return (err->code);
	run->replay = cl_replay_new(m, s->keys, &o, run->writer, 0, err);
	if (run->replay == NULL)
		return (err->code);
	run->collects = cl_replay_collects(&o) && o.ahead == NULL;
	return (CL_OK);
}

int
cl_sweep_add(struct cl_sweep *s, const char *name, const struct cl_model *m,
    const struct cl_replay_options *o, const struct cl_stats_conds *conds,
    struct cl_err *err)
{
	struct cl_err why = { 0 };
	struct run *run;
	int status;

	if ((status = cl_vec_grow(&s->run, &s->run_cap, s->nruns + 1,
	    sizeof(*s->run), err)) != CL_OK)
		return (status);
	run = &s->run[s->nruns++];
	if (open_run(s, run, name, m, o, conds, &why) != CL_OK)
		return (cl_fail(err, why.code, "%s: %s", name, why.msg));
	return (CL_OK);
}

static int
add_pass(struct batch *b, uint32_t ncolumns, const struct cl_pass *pass,
    struct cl_err *err)
{
	struct cl_event *event;
	uint32_t i, n;
	int status;

	if ((status = cl_vec_grow(&b->pass, &b->pass_cap, b->npasses + 1,
	    sizeof(*b->pass), err)) != CL_OK ||
	    (status = cl_vec_grow(&b->event, &b->event_cap,
	    b->nevents + ncolumns, sizeof(*b->event), err)) != CL_OK)
		return (status);
	event = b->event + b->nevents;
	for (i = 0; i < ncolumns; i++) {
		n = pass->skipped ? 0 : pass->event[i].n;
		if ((status = cl_vec_grow(&b->key, &b->key_cap, b->nkeys + n,
		    sizeof(*b->key), err)) != CL_OK)
			return (status);
		if (n > 0)
			memcpy(b->key + b->nkeys, pass->event[i].keys,
			    n * sizeof(*b->key));
		event[i].n = n;
		b->nkeys += n;
	}
	b->pass[b->npasses] = *pass;
	b->pass[b->npasses].ncells = 0;
	b->nevents += ncolumns;
	b->npasses++;
	return (CL_OK);
}

/* Nothing moves any more: point to where it is. */
static void
seal(struct batch *b, uint32_t ncolumns)
{
	const uint32_t *key = b->key;
	size_t i;

	for (i = 0; i < b->nevents; i++) {
		b->event[i].keys = key;
		key += b->event[i].n;
	}
	for (i = 0; i < b->npasses; i++)
		b->pass[i].event = b->event + i * ncolumns;
}

/* A job: a run replays the batch. */
static void
replay_batch(void *arg, uint32_t job)
{
	struct cl_sweep *s = arg;
	const struct batch *b = &s->batch[!s->filling];
	struct run *run = &s->run[job];
	size_t i;

	for (i = 0; i < b->npasses && run->err.code == CL_OK; i++)
		(void)cl_replay_pass(run->replay, &b->pass[i], &run->err);
}

/* Jobs are at their end: how it went. */
static int
end_jobs(struct cl_sweep *s, struct cl_err *err)
{
	struct run *run;
	size_t i;
	int status;

	cl_crew_finish(s->crew);
	s->done = s->nruns > 0;
	for (i = 0; i < s->nruns; i++) {
		run = &s->run[i];
		if (run->err.code != CL_OK)
			return (cl_fail(err, run->err.code, "%s: %s",
			    run->name, run->err.msg));
		if ((status = cl_spool_stream_settle(run->stream, err)) !=
		    CL_OK)
			return (status);
		s->done = s->done && cl_replay_done(run->replay);
	}
	return (CL_OK);
}

/* What has been filled is replayed from now on. */
static int
turn(struct cl_sweep *s, struct cl_err *err)
{
	struct batch *b;
	int status;

	if ((status = end_jobs(s, err)) != CL_OK)
		return (status);
	seal(&s->batch[s->filling], s->keys->ncolumns);
	s->filling = !s->filling;
	b = &s->batch[s->filling];
	b->npasses = b->nevents = b->nkeys = 0;
	cl_crew_start(s->crew, replay_batch, s, (uint32_t)s->nruns);
	return (CL_OK);
}

int
cl_sweep_pass(struct cl_sweep *s, const struct cl_pass *pass,
    struct cl_err *err)
{
	struct batch *b = &s->batch[s->filling];
	int status;

	status = add_pass(b, s->keys->ncolumns, pass, err);
	if (status != CL_OK || (b->nkeys < BATCH && b->nevents < BATCH))
		return (status);
	return (turn(s, err));
}

bool
cl_sweep_done(const struct cl_sweep *s)
{

	return (s->done);
}

/* A job, too: a policy that knows the future replays all of it only now. */
static void
finish_run(void *arg, uint32_t job)
{
	struct cl_sweep *s = arg;
	struct run *run = &s->run[job];

	(void)cl_replay_finish(run->replay, s->end, &run->err);
}

int
cl_sweep_settle(struct cl_sweep *s, struct cl_err *err)
{
	int status;

	if ((status = turn(s, err)) != CL_OK)
		return (status);
	return (end_jobs(s, err));
}

int
cl_sweep_finish(struct cl_sweep *s, const struct cl_stats_end *end,
    struct cl_err *err)
{
	size_t i;
	int status;

	if ((status = cl_sweep_settle(s, err)) != CL_OK)
		return (status);
	for (i = 0; i < s->nruns; i++)
		if ((status = cl_replay_foresee(s->run[i].replay, err)) !=
		    CL_OK)
			return (status);
	s->end = end;
	cl_crew_start(s->crew, finish_run, s, (uint32_t)s->nruns);
	return (end_jobs(s, err));
}

int
cl_sweep_write(struct cl_sweep *s, struct cl_dst *dst, struct cl_err *err)
{
	size_t i;
	int status;

	for (i = 0; i < s->nruns; i++)
		if ((status = cl_spool_stream_copy(s->run[i].stream, dst,
		    err)) != CL_OK)
			return (status);
	return (cl_dst_flush(dst, err));
}

struct cl_replay *
cl_sweep_replay(struct cl_sweep *s, uint32_t i)
{

	assert(i < s->nruns);
	return (s->run[i].replay);
}

void
cl_sweep_free(struct cl_sweep *s)
{
	struct run *run;
	size_t i;

	if (s == NULL)
		return;
	cl_crew_free(s->crew);
	while (s->nruns > 0) {		/* collectors after who needs them */
		run = &s->run[--s->nruns];
		cl_replay_free(run->replay);
		cl_stats_writer_free(run->writer);
		cl_spool_stream_free(run->stream);
		free(run->name);
	}
	free(s->run);
	cl_spool_free(s->spool);
	for (i = 0; i < 2; i++) {
		free(s->batch[i].pass);
		free(s->batch[i].event);
		free(s->batch[i].key);
	}
	free(s);
}
