#ifndef CL_IMPORT_TSV_H
#define CL_IMPORT_TSV_H

/*
 * Text to traces: the inverse of cl/export_tsv.h, and the way in for anything
 * that awk can print.  cl-trace(5), TEXT FORM, says what is understood.
 */

#include <stdint.h>

struct cl_dst;
struct cl_err;
struct cl_model;
struct cl_src;

/* What rows without # lines cannot say; refused where there are such lines. */
struct cl_import_tsv {
	uint32_t	 layers;	/* 0: as many as the rows speak of */
	uint32_t	 experts;	/* per layer; 0: the same */
	uint32_t	 used;		/* per token and layer; 0: the same */
	struct cl_model	*model;		/* in place of all three, or NULL */
};

/*
 * Write each trace that src (borrowed) holds as text to dst (borrowed, plain;
 * flushed, not finished).  opts->model is owned from now on, also where this
 * fails.  Dumped traces, and rows whose layers, experts and k are not all
 * given, are held in memory, compressed, until the last of their rows is
 * known; other rows stream.  A failure names the line and leaves no trailer
 * behind what was written.
 */
int	cl_import_tsv(struct cl_src *, const struct cl_import_tsv *opts,
	    struct cl_dst *, struct cl_err *);

#endif /* CL_IMPORT_TSV_H */
