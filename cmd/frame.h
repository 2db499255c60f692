#ifndef FRAME_H
#define FRAME_H

/*
 * What runs, studies and sweeps share of going through traces: the output, the
 * events of the trace at hand, the rounds that --tokens asks for, and what is
 * left of the output when something fails.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_dst;
struct cl_err;
struct cl_events;
struct cl_stats_end;
struct cl_trace_head;
struct feed_trace;
struct replay_options;

/* arg is whose frame it is. */
struct frame_verbs {
	/* A trace begins: make all it needs, the frame's events among it. */
	int	(*open)(void *arg, const struct feed_trace *,
		    const struct cl_trace_head *, struct cl_err *);
	/* So long has the trace been waited for; NULL: of no interest. */
	void	(*waited)(void *arg, uint64_t ns);
	/* Is it over, as far as it is wanted? */
	bool	(*done)(const void *arg);
	/* It begins once more, or *yes is made false; NULL: never mind. */
	int	(*again)(void *arg, bool *yes, struct cl_err *);
	/* It has ended, and its events with it. */
	int	(*finish)(void *arg, const struct cl_stats_end *,
		    struct cl_err *);
	/* Nothing of it is left, nor of the frame's events. */
	void	(*drop)(void *arg);
	const char *unit;		/* of progress */
};

struct frame {
	const struct frame_verbs *verbs;
	void		*arg;
	bool		 rounds;	/* a trace that is too short goes on */
	struct cl_dst	*out;
	/* Of the trace at hand. */
	struct cl_events *events;	/* the frame frees them */
	bool		 begun;		/* there is some of it in the output */
	uint64_t	 ntokens;	/* when it last began */
	bool		 broken;	/* the output, for good */
	bool		 trouble;	/* something was told that is trouble */
};

/* Open the output, go through all traces, and end it; the exit status. */
int	frame_run(struct frame *, const struct replay_options *,
	    char *const *operands, int n);

#endif /* FRAME_H */
