#ifndef INPUT_H
#define INPUT_H

/*
 * What cl-trace and cl-replay read traces from: a trace, an archive of them,
 * or "archive:glob", those of its members that match.  An operand that is
 * there as it stands is not taken apart.  Dies where fe_input would.
 */

#include <stdbool.h>

struct cl_err;
struct cl_src;
struct input;

/*
 * Of n operands that will be opened in turn, die of the first that is not
 * there before anything is printed.
 */
void	input_check(char *const *operands, int n);

struct input	*input_open(const char *operand);

/*
 * The next source of traces, which is the caller's to close: the input itself,
 * or a member.  CL_END behind the last.  Of an archive, all members are traces
 * that are called .clt or begin as zstd data do; which of the others were not
 * read is said, but for what cl-archive(5) puts beside traces.  An archive
 * with no trace is an error.
 */
int	input_next(struct input *, struct cl_src **, struct cl_err *);

/* The member that the last source is, or NULL: the input is no archive. */
const char	*input_member(const struct input *);

const char	*input_name(const struct input *);	/* for people */
const char	*input_path(const struct input *);	/* NULL: a pipe */
bool	input_pipe(const struct input *);	/* is it no regular file? */

/*
 * The same input from its beginning, beside the first, with nothing more said
 * of what is not read; NULL: it is a pipe, or gone.
 */
struct input	*input_again(const struct input *, struct cl_err *);

void	input_close(struct input *);

#endif /* INPUT_H */
