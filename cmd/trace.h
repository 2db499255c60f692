#ifndef TRACE_H
#define TRACE_H

/*
 * What the files of cl-trace share: its options, and a function for each
 * thing it can do, which returns the exit status.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/synth.h"
#include "cl/trace.h"

enum trace_mode {
	MODE_RECORD,
	MODE_SYNTHETIC,
	MODE_GEOMETRY,
	MODE_INFO,
	MODE_VERIFY,
	MODE_DUMP,
	MODE_LOAD
};

struct trace_prompt {
	const char	*path;		/* of its file; NULL: it has none */
	const char	*name;
	char		*text;		/* owned; NULL until it is read */
	size_t		 nbytes;
};

struct trace_options {
	enum trace_mode	 mode;
	const char	*output;
	bool		 replace;
	bool		 json;
	char		*const *operand;	/* ended by NULL */
	int		 noperands;

	/* recording */
	struct trace_prompt *prompt;
	size_t		 nprompts;
	size_t		 prompt_cap;
	bool		 builtin;	/* none was given */
	enum cl_trace_scores scores;
	bool		 tokens;
	uint32_t	 ngenerate;
	bool		 ignore_eos;
	double		 temperature;
	uint64_t	 seed;
	uint32_t	 nctx;		/* 0: as many as are needed */
	uint32_t	 nubatch;
	uint32_t	 nthreads;
	uint32_t	 nparallel;
	bool		 chat;
	bool		 has_gpu_layers;
	uint32_t	 gpu_layers;
	bool		 no_repack;
	const char	*llama;

	/* making */
	struct cl_synth_options synth;

	/* loading */
	uint32_t	 layers;	/* 0: not given */
	uint32_t	 experts;
	uint32_t	 used;
	const char	*model;		/* whose geometry the rows have */
};

int	trace_record(const struct trace_options *);
int	trace_synthetic(const struct trace_options *);
int	trace_geometry(const struct trace_options *);
int	trace_info(const struct trace_options *);
int	trace_verify(const struct trace_options *);
int	trace_dump(const struct trace_options *);
int	trace_load(const struct trace_options *);

/* The prompt for those who give none: prose and code, a page of it. */
extern const char trace_prompt_builtin[];

#endif /* TRACE_H */
