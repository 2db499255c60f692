#ifndef CL_INFO_H
#define CL_INFO_H

/*
 * What a stream of traces holds, for people and for programs: origin, model,
 * sequences, counts and how each trace ended.
 */

struct cl_dst;
struct cl_err;
struct cl_json;
struct cl_trace_reader;

/*
 * Read to the end and tell, in JSON as elements of the array that is open.
 * What is intact is told before an error comes back, and a trace that is cut
 * off is told as incomplete.  name: of the input.
 */
int	cl_info_text(struct cl_trace_reader *, const char *name,
	    struct cl_dst *, struct cl_err *);
int	cl_info_json(struct cl_trace_reader *, const char *name,
	    struct cl_json *, struct cl_err *);

#endif /* CL_INFO_H */
