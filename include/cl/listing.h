#ifndef CL_LISTING_H
#define CL_LISTING_H

/*
 * The logs of runs, access by access, as they are read: tabs and lines for
 * awk, or a line of JSON for each event.  Memory does not grow with the
 * stream.  Borrows its sink; one thread.
 */

#include <stdbool.h>

struct cl_decision;
struct cl_dst;
struct cl_err;
struct cl_json;
struct cl_listing;
struct cl_stats_end;
struct cl_stats_reader;

/* Prints what stands before the first run. */
struct cl_listing	*cl_listing_new(bool json, struct cl_dst *,
			    struct cl_err *);

/*
 * The next run of a reader that hands out decisions, and its trailer; CL_END
 * behind the last.  CL_EFORMAT where its digests are not those of its log,
 * as of a run that has none.
 */
int	cl_listing_run(struct cl_listing *, struct cl_stats_reader *,
	    struct cl_stats_end *, struct cl_err *);
void	cl_listing_free(struct cl_listing *);		/* NULL is legal */

/* An event as members of the object that is open, "pass" to "members". */
void	cl_listing_event(struct cl_json *, const struct cl_decision *);

#endif /* CL_LISTING_H */
