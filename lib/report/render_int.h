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

/* What all runs so far hit, by policy and budget. */
struct render_sweep {
	struct render_point *point;
	size_t		 n;
	size_t		 cap;
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
	uint64_t	 heads;		/* one table: a hash of its columns */
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

int	cl_render_sweep_add(struct render_sweep *, const struct cl_run *,
	    struct cl_err *);

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
