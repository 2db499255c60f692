#ifndef RENDER_INT_H
#define RENDER_INT_H

/*
 * What a form of report is: three steps on a state that all forms share.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/json.h"
#include "cl/render.h"
#include "cl/run.h"
#include "cl/table.h"
#include "cl/text.h"

#define RENDER_SUMMED	14		/* counters that are summed over runs */

/* The sum of all runs so far. */
struct render_total {
	size_t		 nruns;
	uint64_t	 conds;		/* what they have in common */
	bool		 mixed;		/* nothing that could be summed */
	bool		 cut;		/* one of them is not whole */
	uint64_t	 sum[RENDER_SUMMED];
	bool		 unknown[RENDER_SUMMED];
};

/*
 * Runs that differ in nothing but traces, policies and budgets are a group.  It
 * keeps what the report may have to say of it, each condition as text.
 */
struct render_group {
	uint64_t	 key;
	bool		 alone;		/* no other is of runs of this kind */
	struct cl_stats_conds conds;
};

struct render_span {			/* runs one after another */
	size_t		 group;
	size_t		 first;		/* from 1 */
	size_t		 last;
};

struct render_groups {
	struct render_group *group;
	size_t		 n;
	size_t		 cap;
	struct render_span *span;
	size_t		 nspans;
	size_t		 spans_cap;
	struct cl_stats_conds differ;	/* names: groups of a kind differ so */
};

/* What all runs so far hit, by policy and budget. */
struct render_sweep {
	struct render_point *point;
	size_t		 n;
	size_t		 cap;
	struct render_groups groups;
};

#define RENDER_POLICY	0		/* the texts of a point */
#define RENDER_PARTITION 1
#define RENDER_TRACE	2
#define RENDER_BUDGET	3
#define RENDER_TEXTS	4

#define RENDER_ALL	0		/* what a point has counted */
#define RENDER_DECODE	1

/* A replay in a matrix. */
struct render_point {
	uint64_t	 key;		/* of all that is no policy or budget */
	size_t		 group;
	char		*text[RENDER_TEXTS];
	uint64_t	 experts;	/* that fit */
	uint64_t	 of;		/* all there are; 0: unknown */
	uint64_t	 tokens;
	uint64_t	 misses;
	uint64_t	 accesses[2];
	uint64_t	 hits[2];
	bool		 bound;		/* the policy knows the future */
	bool		 endless;	/* and needs no budget */
	bool		 whole;
};

struct cl_render {
	const struct render_form *form;
	struct cl_dst	*dst;		/* borrowed */
	struct cl_render_options options;
	size_t		 nruns;		/* that were begun */
	struct render_total total;
	struct cl_json	 json;		/* json: the open document */
	struct render_sweep sweep;
	struct cl_table	 summary;	/* text: a line for each run */
	bool		 timed;		/* and some run has a wall time */
	uint64_t	 heads;		/* one table: a hash of its columns */
	bool		 found;		/* and some run has had it */
	char		 tables[400];	/* the names of those that there are */
};

struct render_form {
	int	(*begin)(struct cl_render *, struct cl_err *);
	int	(*run)(struct cl_render *, const struct cl_run *,
		    struct cl_err *);
	int	(*end)(struct cl_render *, struct cl_err *);
};

/* Text: one run being printed, and the parts of its report. */
struct view {
	struct cl_render *r;
	struct cl_dst	*dst;
	const struct cl_run *run;
	const struct cl_run_row *all;	/* logical, whole run; or NULL */
	const struct cl_run_row *met;	/* measured, whole run; or NULL */
	bool		 replay;	/* there was a cache: policy, hits */
};

int	cl_render_counters(const struct view *, struct cl_err *);
int	cl_render_measured(const struct view *, struct cl_err *);
int	cl_render_layers(const struct view *, struct cl_err *);
int	cl_render_windows(const struct view *, struct cl_err *);

/* A logical counter of a row, 0 where it has none. */
uint64_t	cl_render_count(const struct view *,
		    const struct cl_run_row *, const char *name);

/* A measurement of the whole run; 0, and false, where it has none. */
bool	cl_render_measure(const struct view *, const char *name, uint64_t *);

/* The same as text, "-" where there is none. */
const char	*cl_render_cell(char buf[32], const struct view *,
		    const struct cl_run_row *, const char *name);
const char	*cl_render_bytes(char buf[CL_TEXT_SIZE_MAX],
		    const struct view *, enum cl_stats_kind,
		    const struct cl_run_row *, const char *name);

/* "run 3: t.clt, lru, 128 experts cached", bold, in lines of a page. */
void	cl_render_headline(const struct view *);

#define RENDER_NAME_MAX	8192		/* paths and members are shorter */

/*
 * The trace of a run: "corpus.tar:chat/a.clt", and which one of an input that
 * does not name them: "standard input (2)".
 */
const char	*cl_render_trace(char buf[RENDER_NAME_MAX],
		    const struct cl_run *);

/* The same behind SYNTHETIC if it is that: nothing else there says so. */
const char	*cl_render_marked(char buf[RENDER_NAME_MAX],
		    const struct cl_run *);

/* The first row of a table. */
void	cl_render_heads(struct cl_table *, const char *const *heads,
	    unsigned n);

/* Row i of n goes into a table; a gap stands for those that do not. */
bool	cl_render_shown(struct cl_table *, const struct view *, size_t i,
	    size_t n);

/* Its rows as an array of objects; t NULL: of none. */
void	cl_render_rows_json(struct cl_json *, const char *key,
	    const struct cl_run *, const struct cl_run_table *t);

/* A table of the stream as it is, and all that no other part has shown. */
int	cl_render_plain(const struct view *, const struct cl_run_table *,
	    struct cl_err *);
int	cl_render_tables(const struct view *, struct cl_err *);

/* Tables whose meaning is known, under their names. */
int	cl_render_latency(const struct view *, const struct cl_run_table *,
	    struct cl_err *);
int	cl_render_curve(const struct view *, const struct cl_run_table *,
	    struct cl_err *);
int	cl_render_capacities(const struct view *, const struct cl_run_table *,
	    struct cl_err *);
int	cl_render_bound(const struct view *, const struct cl_run_table *,
	    struct cl_err *);
int	cl_render_study(const struct view *, const struct cl_run_table *,
	    struct cl_err *);

/* Of a table that is too long for people, no more than how to see it. */
int	cl_render_elsewhere(const struct view *, const struct cl_run_table *,
	    struct cl_err *);

/* All conditions but those of which except says so, as one number. */
uint64_t	cl_render_conditions(const struct cl_run *,
		    bool (*except)(const char *name));

/* May traces of one kind differ in that condition? */
bool	cl_render_of_trace(const char *name);

/* Does a sweep sweep that condition, or is it one that follows from those? */
bool	cl_render_varies(const char *name);

/* The group of a run that came as the nth, from 1. */
int	cl_render_groups_add(struct render_groups *, const struct cl_run *,
	    size_t n, size_t *group, struct cl_err *);

/* A condition of a group, or NULL. */
const char	*cl_render_group_cond(const struct render_groups *,
		    size_t group, const char *name);

/*
 * What tells a group from the others of its kind, "name=value name=value", and
 * with rules on in any case by which rules it was replayed; may be empty.
 */
const char	*cl_render_group_text(char *buf, size_t cap,
		    const struct render_groups *, size_t group, bool rules);

/* Below a list of runs: which of them differ in what the list does not say. */
void	cl_render_groups_print(const struct render_groups *,
	    struct cl_dst *);
void	cl_render_groups_free(struct render_groups *);

int	cl_render_sweep_add(struct render_sweep *, const struct cl_run *,
	    size_t n, struct cl_err *);

/* Hits / accesses of a point; 0 without accesses. */
double	cl_render_rate(const struct render_point *, unsigned what);

/* Are there some runs, and do they differ in policy and budget alone? */
bool	cl_render_sweep_is(const struct render_sweep *);
int	cl_render_sweep(struct cl_render *, struct cl_err *);
void	cl_render_sweep_free(struct render_sweep *);

extern const char *const cl_render_summed[RENDER_SUMMED];

void	cl_render_total_add(struct render_total *, const struct cl_run *);

/* Are there several runs that differ in nothing but their traces? */
bool	cl_render_total_is(const struct render_total *);

/* The sum of a counter; 0, and false, where a run lacks it. */
bool	cl_render_total_get(const struct render_total *, const char *name,
	    uint64_t *);

extern const struct render_form cl_render_text;
extern const struct render_form cl_render_tsv;
extern const struct render_form cl_render_json;
extern const struct render_form cl_render_one_text;
extern const struct render_form cl_render_one_tsv;
extern const struct render_form cl_render_one_json;
extern const struct render_form cl_render_sweep_text;
extern const struct render_form cl_render_sweep_tsv;
extern const struct render_form cl_render_sweep_json;

#endif /* RENDER_INT_H */
