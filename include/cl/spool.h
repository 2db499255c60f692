#ifndef CL_SPOOL_H
#define CL_SPOOL_H

/*
 * Streams of bytes that are written side by side and wait for their turn to
 * be copied: in memory, and once that is much in one unlinked file for all of
 * them, in which their pieces lie as they come.
 *
 * Each stream may be written by another thread; all else is for one thread,
 * while nobody writes.
 */

#include <stddef.h>

struct cl_dst;
struct cl_err;
struct cl_spool;
struct cl_spool_stream;

#define CL_SPOOL_PIECE	65536u		/* bytes of a stream left in memory */

/* The file will be in dir, if there is to be one. */
struct cl_spool	*cl_spool_new(const char *dir, struct cl_err *);

/* One more stream; to be freed before the spool. */
struct cl_spool_stream	*cl_spool_stream_new(struct cl_spool *,
			    struct cl_err *);

/* Where it is written; the stream's to free. */
struct cl_dst	*cl_spool_stream_dst(struct cl_spool_stream *);

/* What has been flushed into it goes to the file, if that is a piece. */
int	cl_spool_stream_settle(struct cl_spool_stream *, struct cl_err *);

/* All that has been flushed into it is copied there. */
int	cl_spool_stream_copy(struct cl_spool_stream *, struct cl_dst *,
	    struct cl_err *);

void	cl_spool_stream_free(struct cl_spool_stream *);	/* NULL is legal */
void	cl_spool_free(struct cl_spool *);		/* NULL is legal */

#endif /* CL_SPOOL_H */
