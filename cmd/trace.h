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

struct cl_dst;
struct cl_err;
struct cl_tap;

enum trace_mode {
	MODE_RECORD,
	MODE_SYNTHETIC,
	MODE_GEOMETRY,
	MODE_INFO,
	MODE_VERIFY,
	MODE_DUMP,
	MODE_LOAD,
	MODE_ADD,
	MODE_ARCHIVE_LIST,
	MODE_ARCHIVE_VERIFY
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
	bool		 no_tokens;	/* their ids are left out */
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
	bool		 no_flash_attn;
	const char	*llama;

	/* archives */
	const char	*archive;	/* to be made; NULL: a trace is */
	const char	*prompts;	/* a folder of them */
	const char	*resume;	/* an archive to go on from */

	/* making */
	struct cl_synth_options synth;
	bool		 synth_said;	/* its mode was given */
	bool		 locality_said;

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
int	trace_corpus(const struct trace_options *);
int	trace_add(const struct trace_options *);
int	trace_archive_list(const struct trace_options *);
int	trace_archive_verify(const struct trace_options *);

/* Where the archive goes, or NULL for standard output. */
const char	*trace_archive_path(const struct trace_options *);

/* A prompt's file, whole; its name is what the sequence will be called. */
void	trace_read_prompt(struct trace_prompt *);

/* The engine that the options ask for. */
struct cl_tap	*trace_record_tap(const struct trace_options *,
		    const struct cl_model *, struct cl_err *);

/* What a recording will hold, and the options that shape it. */
struct cl_trace_head	*trace_record_head(const struct trace_options *,
			    struct cl_err *);

/*
 * Record the prompts, and say how much it was (of a member, or "").  CL_END:
 * a signal ended it early.
 */
int	trace_record_run(const struct trace_options *, const char *member,
	    struct cl_tap *, struct cl_trace_head *, struct cl_dst *,
	    struct cl_err *);

/* Was an old trace recorded as one with this head would be?  Else why not. */
int	trace_record_same(const struct cl_trace_head *old,
	    const struct cl_trace_head *now, const char *engine,
	    struct cl_err *);

/* The prompt for those who give none: prose and code, a page of it. */
extern const char trace_prompt_builtin[];

#endif /* TRACE_H */
