#ifndef CL_EXPORT_TSV_H
#define CL_EXPORT_TSV_H

/*
 * A stream of traces as text: cl-trace(5), TEXT FORM.  Lines of # say all that
 * a trace holds besides its rows, and rows have one (token, layer) each, so
 * that awk can use them and cl_import_tsv() gets the same trace back.
 */

struct cl_dst;
struct cl_err;
struct cl_trace_reader;

/*
 * Print each trace of a reader that was not read from yet, both borrowed; rows
 * are flushed block by block.  Where the input fails, what was intact has been
 * printed, and the lines that end a trace are missing.
 */
int	cl_export_tsv(struct cl_trace_reader *, struct cl_dst *,
	    struct cl_err *);

#endif /* CL_EXPORT_TSV_H */
