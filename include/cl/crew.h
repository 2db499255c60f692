#ifndef CL_CREW_H
#define CL_CREW_H

/*
 * A crew: threads that share out numbered jobs, and whoever calls it, who
 * helps.  What a job does is to depend on its number alone: who does it, and
 * when, is left to chance.  The crew is called by one thread.
 */

#include <stdint.h>

struct cl_crew;
struct cl_err;

/* nthreads beside the caller; 0: the caller does it all. */
struct cl_crew	*cl_crew_new(unsigned nthreads, struct cl_err *);

/*
 * Let work(arg, 0) .. work(arg, njobs - 1) be done from now on; what the last
 * call began has to be finished.
 */
void	cl_crew_start(struct cl_crew *, void (*work)(void *arg, uint32_t job),
	    void *arg, uint32_t njobs);

/* Help, and return once all is done; at once where nothing was begun. */
void	cl_crew_finish(struct cl_crew *);

/* Jobs that were not begun are left.  NULL is legal. */
void	cl_crew_free(struct cl_crew *);

#endif /* CL_CREW_H */
