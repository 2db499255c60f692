#ifndef CL_JSON_H
#define CL_JSON_H

/*
 * report/: results made readable: text, tables, JSON, comparison, verdicts.
 *
 * A writer of strict JSON (RFC 8259) onto a sink: two spaces of indent, one
 * member or element a line.  Integers are exact; doubles are the shortest
 * that read back the same, and null where they are no number; strings are
 * UTF-8, with U+FFFD for each byte that is not.  Every value takes its key:
 * a string inside an object, NULL inside an array and at the top.  The state
 * is the caller's, used by one thread.  Cannot fail but through the sink.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cl_dst;

#define CL_JSON_DEPTH_MAX	32	/* containers within each other */

struct cl_json {
	struct cl_dst	*dst;
	unsigned	 depth;
	struct {
		bool	 object;	/* else an array */
		bool	 row;		/* on one line */
		bool	 used;		/* holds something already */
	}		 level[CL_JSON_DEPTH_MAX + 1];	/* [0]: the document */
};

void	cl_json_init(struct cl_json *, struct cl_dst *);

/* Open a container; each is closed by cl_json_end. */
void	cl_json_object(struct cl_json *, const char *key);
void	cl_json_array(struct cl_json *, const char *key);

/* The same, with all that is in it on one line: for many short things. */
void	cl_json_object_row(struct cl_json *, const char *key);
void	cl_json_array_row(struct cl_json *, const char *key);

void	cl_json_end(struct cl_json *);

void	cl_json_u64(struct cl_json *, const char *key, uint64_t);
void	cl_json_i64(struct cl_json *, const char *key, int64_t);
void	cl_json_double(struct cl_json *, const char *key, double);
void	cl_json_f32(struct cl_json *, const char *key, float);
void	cl_json_bool(struct cl_json *, const char *key, bool);
void	cl_json_null(struct cl_json *, const char *key);
void	cl_json_str(struct cl_json *, const char *key, const char *);
void	cl_json_strn(struct cl_json *, const char *key, const char *, size_t);

/* A digest or fingerprint: a string of 16 hex digits, lower case. */
void	cl_json_hex64(struct cl_json *, const char *key, uint64_t);

/* The end of a document, with its newline; everything must be closed. */
void	cl_json_finish(struct cl_json *);

#endif /* CL_JSON_H */
