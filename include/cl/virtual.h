#ifndef CL_VIRTUAL_H
#define CL_VIRTUAL_H

/*
 * A storage device that is not there: a queueing model on a virtual clock.
 *
 * A request takes a fixed latency, in which any number of them overlap, and
 * then the one link of the device, in the order in which they came.  So one
 * alone takes latency + bytes / rate, and enough of them at once move bytes /
 * rate.  At most `depth` requests are in the device; others wait for a place.
 *
 * Before the device stand as many workers as a reader has.  A worker takes a
 * job, demand before prefetch, and makes a request of each of its parts, one
 * after another; with `spread` each part is for any worker.  What a worker has
 * taken is neither overtaken nor given up.
 *
 * All is integers: nanoseconds, and bytes since the link was last idle, so
 * that no rounding adds up.  Same calls, same times, on every machine.  The
 * clock stops at 2^63 - 1.  A job is the caller's, and is left alone from
 * submit until it is done; a submit allocates nothing.  One thread, any.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cl_err;
struct cl_virtual;

#define CL_VIRTUAL_DEPTH_MAX	1024
#define CL_VIRTUAL_PARTS_MAX	16
#define CL_VIRTUAL_RATE_MIN	1024	/* bytes/s; so that times stay times */

struct cl_virtual_spec {
	uint64_t	 read;		/* bytes/s of the link */
	uint64_t	 dense;		/* the same for dense weights */
	uint64_t	 latency_ns;
	uint32_t	 depth;
	uint64_t	 compute_ns;	/* of an event, whatever it used */
	uint64_t	 kernel;	/* bytes/s of what it used; 0: no time */
};

/*
 * "read=7G,latency=80us,depth=32", then dense=, compute= and kernel= where
 * they are wanted: each key once, in any order.  Where dense is not given it
 * is as read.
 */
int	cl_virtual_parse(const char *, struct cl_virtual_spec *,
	    struct cl_err *);

#define CL_VIRTUAL_TEXT_MAX	256

/* The one text of a device; parsing it gives the same. */
const char	*cl_virtual_text(char buf[CL_VIRTUAL_TEXT_MAX],
		    const struct cl_virtual_spec *);

/* What the computing of an event over so many bytes takes. */
uint64_t	cl_virtual_compute_ns(const struct cl_virtual_spec *,
		    uint64_t nbytes);

/* The device proper, for those who bring workers of their own. */
struct cl_virtual_link {
	struct cl_virtual_spec spec;
	uint64_t	 nserved;
	uint64_t	 end[CL_VIRTUAL_DEPTH_MAX]; /* of the last ones */
	uint64_t	 rate;		/* since then: */
	uint64_t	 from;		/* when the link was last idle */
	uint64_t	 nbytes;	/* that it took on since */
	uint64_t	 free;		/* when it will be idle */
};

void	cl_virtual_link_init(struct cl_virtual_link *,
	    const struct cl_virtual_spec *);

/* When a request ends that comes at a time, no earlier than the last one. */
uint64_t	cl_virtual_link_serve(struct cl_virtual_link *, uint64_t at,
		    uint64_t nbytes, bool dense);

enum cl_virtual_queue {
	CL_VIRTUAL_DEMAND,
	CL_VIRTUAL_PREFETCH
};

struct cl_virtual_job {
	/* the submitter's */
	uint64_t	 nbytes[CL_VIRTUAL_PARTS_MAX];
	uint32_t	 nparts;	/* at least 1 */
	bool		 dense;

	/* the device's */
	enum cl_virtual_state {
		CL_VIRTUAL_WAITING,
		CL_VIRTUAL_BEGUN,	/* a worker has at least one part */
		CL_VIRTUAL_DONE
	}		 state;
	enum cl_virtual_queue queue;
	uint32_t	 begun;		/* parts that were */
	uint32_t	 ended;
	uint64_t	 begin_ns;
	uint64_t	 end_ns;
	struct cl_virtual_job *prev, *next;
};

/* nworkers is at least 1.  The clock starts at 0. */
struct cl_virtual	*cl_virtual_new(const struct cl_virtual_spec *,
			    uint32_t nworkers, bool spread, struct cl_err *);

uint64_t	cl_virtual_now(const struct cl_virtual *);

void	cl_virtual_submit(struct cl_virtual *, struct cl_virtual_job *,
	    enum cl_virtual_queue);

/* What is still in the prefetch queue goes to the end of the other one. */
void	cl_virtual_promote(struct cl_virtual *, struct cl_virtual_job *);

/* Move the clock on to when the job is done. */
void	cl_virtual_wait(struct cl_virtual *, struct cl_virtual_job *);

/* Move the clock on; reads go on meanwhile. */
void	cl_virtual_spend(struct cl_virtual *, uint64_t ns);

void	cl_virtual_free(struct cl_virtual *);		/* NULL is legal */

#endif /* CL_VIRTUAL_H */
