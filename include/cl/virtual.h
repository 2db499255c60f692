#ifndef CL_VIRTUAL_H
#define CL_VIRTUAL_H

/*
 * A storage device that is not there: a queueing model.
 *
 * A request takes a fixed latency, in which any number of them overlap, and
 * then the one link of the device, in the order in which they came.  So one
 * alone takes latency + bytes / rate, and enough of them at once move bytes /
 * rate.  At most `depth` requests are in the device; others wait for a place.
 *
 * All is integers: nanoseconds, and bytes since the link was last idle, so
 * that no rounding adds up.  Same calls, same times, on every machine.  Time
 * stops at 2^63 - 1.  One thread at a time.
 *
 * Whoever waits for a request goes on a while after it ended, the time to be
 * woken; whoever finds that it has ended does not wait.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cl_err;

#define CL_VIRTUAL_DEPTH_MAX	1024
#define CL_VIRTUAL_RATE_MIN	1024	/* bytes/s; so that times stay times */

struct cl_virtual_spec {
	uint64_t	 read;		/* bytes/s of the link */
	uint64_t	 dense;		/* the same for dense weights */
	uint64_t	 latency_ns;
	uint32_t	 depth;
	uint64_t	 wake_ns;	/* until one who waits for it goes on */
	/*
	 * And what is done with the bytes: an event computes for compute_ns,
	 * and for the time that the kernel takes over all that it used.
	 */
	uint64_t	 compute_ns;
	uint64_t	 kernel;	/* bytes/s; 0: they take no time */
};

/*
 * "read=7G,latency=80us,depth=32", then dense=, wake=, compute= and kernel=
 * where they are wanted: each key once, in any order.  Where dense is not given
 * it is as read.
 */
int	cl_virtual_parse(const char *, struct cl_virtual_spec *,
	    struct cl_err *);

#define CL_VIRTUAL_TEXT_MAX	256

/* The one text of a device; parsing it gives the same. */
const char	*cl_virtual_text(char buf[CL_VIRTUAL_TEXT_MAX],
		    const struct cl_virtual_spec *);

/* How long the kernel takes over so many bytes. */
uint64_t	cl_virtual_kernel_ns(const struct cl_virtual_spec *,
		    uint64_t nbytes);

/* A time so much later, or the end of time. */
uint64_t	cl_virtual_later(uint64_t at, uint64_t ns);

/* The caller's; nothing in it is for others to read. */
struct cl_virtual {
	struct cl_virtual_spec spec;
	uint64_t	 nserved;
	uint64_t	 end[CL_VIRTUAL_DEPTH_MAX]; /* of the last ones */
	uint64_t	 rate;		/* since it changed or had a rest: */
	uint64_t	 from;		/* when that was */
	uint64_t	 nbytes;	/* that the link has taken on */
	uint64_t	 free;		/* when it is through with them */
};

void	cl_virtual_init(struct cl_virtual *, const struct cl_virtual_spec *);

/*
 * When a request ends that comes at a time, which is no earlier than that of
 * the one before; neither is its end.
 */
uint64_t	cl_virtual_serve(struct cl_virtual *, uint64_t at,
		    uint64_t nbytes, bool dense);

#endif /* CL_VIRTUAL_H */
