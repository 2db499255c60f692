#ifndef FEED_H
#define FEED_H

/*
 * All traces of all operands, one after another, to whoever replays or studies
 * them: opened, read record by record, and ended by what is told of how each
 * ended.  What one member of an archive lacks is no reason to leave out the
 * others.  Speaks through fe.h; dies where it would.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_err;
struct cl_stats_end;
struct cl_trace_block;
struct cl_trace_head;
struct cl_trace_reader;

/* The trace at hand. */
struct feed_trace {
	const char	*input;		/* its name */
	const char	*path;		/* of the input; NULL: a pipe */
	bool		 pipe;
	const char	*member;	/* of an archive, or NULL */
	const char	*name;		/* of the input, or input:member */
	uint64_t	 number;	/* of the input's, from 1 */
	struct cl_trace_reader *reader;
	uint64_t	 waited_ns;	/* for what other readers read of it */
};

struct feed_sink {
	/*
	 * A trace begins, goes on, ends.  A failure of these is told, and no
	 * more of the trace's source is read.
	 */
	int	(*begin)(void *arg, const struct feed_trace *,
		    const struct cl_trace_head *, struct cl_err *);
	int	(*block)(void *arg, const struct feed_trace *,
		    const struct cl_trace_block *, struct cl_err *);
	int	(*end)(void *arg, const struct feed_trace *,
		    const struct cl_stats_end *, struct cl_err *);
	/*
	 * The trace is over, and whole: is it wanted once more, its sequences
	 * being new ones?  Then its blocks come again before its end.  NULL:
	 * never.
	 */
	int	(*again)(void *arg, bool *yes, struct cl_err *);
	/* Nothing of the trace is left, however it ended. */
	void	(*drop)(void *arg);
	/* Is the output beyond repair, so that no other trace is of use? */
	bool	(*broken)(const void *arg);
	void	*arg;
	const char *unit;		/* of progress: "tokens replayed" */
};

/* Nanoseconds spent so far waiting for the input of the trace. */
uint64_t	feed_wait_ns(const struct feed_trace *);

/* FE_DONE when every trace came whole. */
int	feed(char *const *operands, int n, const struct feed_sink *);

#endif /* FEED_H */
