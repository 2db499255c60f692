#ifndef CL_RECORD_H
#define CL_RECORD_H

/*
 * Records a model's own router: runs prompts through a tap and writes what it
 * captures as a trace.  Each prompt is a sequence of its own: prefilled in
 * passes of at most as many tokens as a graph of the tap takes, then continued
 * by generated tokens.  As many prompts as the tap has sequences are under way
 * at once: a decode pass is a token of each of them, and when one ends, the
 * next prompt is prefilled and joins in.  Every token and every layer that the
 * engine runs is in the trace, with its scores and the experts that the engine
 * chose; what it runs as one graph is one pass.
 *
 * Same prompts, options, tap and processor: same bytes.  Memory is that of
 * the prompts' tokens and of one pass.  Everything is borrowed for the length
 * of the call and used by the calling thread.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cl_dst;
struct cl_err;
struct cl_tap;
struct cl_trace_counts;
struct cl_trace_head;

struct cl_record_prompt {
	const char	*name;		/* of its sequence */
	const char	*text;
	size_t		 nbytes;
};

struct cl_record_options {
	const struct cl_record_prompt *prompts;
	uint32_t	 nprompts;	/* 1 or more */
	bool		 chat;		/* in the model's own template */
	uint32_t	 ngenerate;	/* tokens after each prompt, at most */
	bool		 ignore_eos;	/* go on after an end of generation */
	double		 temp;		/* 0: the likeliest token */
	uint64_t	 seed;		/* of choices by temperature; each
					   prompt has draws of its own */
	/* Called after each pass, unless NULL; tokens of total at most. */
	void		(*progress)(void *, uint64_t done, uint64_t total);
	void		*progress_arg;
	const atomic_bool *stop;	/* once true, no pass begins; or NULL */
};

/*
 * Record all prompts.  The tap must capture, and its sequences be empty; if it
 * has no context yet, it gets one where each of them has room for the longest
 * prompt.
 *
 * The head says what the trace holds and belongs to the caller; its model is
 * the file's (cl_model_open).  It is completed here from the first pass: the
 * rules become those of the graph, with nothing assumed, the note "engine"
 * is set, and a layer that the engine does not run becomes an extra one.
 *
 * Refused before anything is run or written: a prompt without tokens, one
 * that with the tokens to generate outgrows the context, and more sequences
 * than a graph takes tokens.  Stopped, the trace
 * ends as interrupted and the call as CL_OK, unless nothing had been recorded
 * (CL_EIO).  A later failure ends what was written as incomplete.  *counts
 * tells what the trace holds, and how it ended, after success and failure.
 */
int	cl_record_run(struct cl_tap *, struct cl_trace_head *,
	    struct cl_dst *, const struct cl_record_options *,
	    struct cl_trace_counts *, struct cl_err *);

#endif /* CL_RECORD_H */
