/*
 * Jobs are numbers that are taken in order under one mutex: what they do is
 * to be large beside that.
 */

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cl/crew.h"
#include "cl/err.h"

struct cl_crew {
	/* fixed at open */
	pthread_t	*thread;
	unsigned	 nthreads;

	/* under mu */
	pthread_mutex_t	 mu;
	pthread_cond_t	 begun;		/* there are jobs, or it stops */
	pthread_cond_t	 done;		/* nothing is left */
	bool		 stop;
	uint32_t	 next;		/* job to be taken */
	uint32_t	 njobs;
	uint32_t	 nleft;		/* not done yet */
	void		(*work)(void *arg, uint32_t job);
	void		*arg;
};

/* Under mu: take jobs as long as there are any. */
static void
do_jobs(struct cl_crew *c)
{
	void (*work)(void *, uint32_t) = c->work;
	void *arg = c->arg;
	uint32_t job;

	while (c->next < c->njobs) {
		job = c->next++;
		(void)pthread_mutex_unlock(&c->mu);
		work(arg, job);
		(void)pthread_mutex_lock(&c->mu);
		if (--c->nleft == 0)
			(void)pthread_cond_signal(&c->done);
	}
}

static void *
worker(void *arg)
{
	struct cl_crew *c = arg;

	(void)pthread_mutex_lock(&c->mu);
	while (!c->stop) {
		do_jobs(c);
		if (!c->stop)
			(void)pthread_cond_wait(&c->begun, &c->mu);
	}
	(void)pthread_mutex_unlock(&c->mu);
	return (NULL);
}

static int
start_threads(struct cl_crew *c, unsigned n, struct cl_err *err)
{
	int error;

	while (c->nthreads < n) {
		error = pthread_create(&c->thread[c->nthreads], NULL, worker,
		    c);
		if (error != 0) {
			errno = error;
			return (cl_fail_errno(err, "cannot start thread %u "
			    "of %u", c->nthreads + 1, n));
		}
		c->nthreads++;
	}
	return (CL_OK);
}

struct cl_crew *
cl_crew_new(unsigned nthreads, struct cl_err *err)
{
	struct cl_crew *c;

	if ((c = calloc(1, sizeof(*c))) == NULL ||
	    (c->thread = calloc(nthreads + 1u, sizeof(*c->thread))) == NULL) {
		free(c);
		cl_fail_nomem(err, "threads");
		return (NULL);
	}
	(void)pthread_mutex_init(&c->mu, NULL);
	(void)pthread_cond_init(&c->begun, NULL);
	(void)pthread_cond_init(&c->done, NULL);
	if (start_threads(c, nthreads, err) != CL_OK) {
		cl_crew_free(c);
		return (NULL);
	}
	return (c);
}

void
cl_crew_start(struct cl_crew *c, void (*work)(void *, uint32_t), void *arg,
    uint32_t njobs)
{

	(void)pthread_mutex_lock(&c->mu);
	c->work = work;
	c->arg = arg;
	c->next = 0;
	c->njobs = c->nleft = njobs;
	(void)pthread_cond_broadcast(&c->begun);
	(void)pthread_mutex_unlock(&c->mu);
}

void
cl_crew_finish(struct cl_crew *c)
{

	(void)pthread_mutex_lock(&c->mu);
	do_jobs(c);
	while (c->nleft > 0)
		(void)pthread_cond_wait(&c->done, &c->mu);
	(void)pthread_mutex_unlock(&c->mu);
}

void
cl_crew_free(struct cl_crew *c)
{
	unsigned i;

	if (c == NULL)
		return;
	(void)pthread_mutex_lock(&c->mu);
	c->next = c->njobs;		/* those not begun are not wanted */
	c->stop = true;
	(void)pthread_cond_broadcast(&c->begun);
	(void)pthread_mutex_unlock(&c->mu);
	for (i = 0; i < c->nthreads; i++)
		(void)pthread_join(c->thread[i], NULL);
	(void)pthread_cond_destroy(&c->done);
	(void)pthread_cond_destroy(&c->begun);
	(void)pthread_mutex_destroy(&c->mu);
	free(c->thread);
	free(c);
}
