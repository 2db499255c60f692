#ifndef FE_H
#define FE_H

/*
 * The front end of the four commands: the only code that speaks, reads the
 * environment, handles signals or ends the program.  Exit status: 0 done, 1 a
 * negative answer, 2 trouble.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct cl_dst;
struct cl_err;
struct cl_src;

#define FE_DONE		0
#define FE_NEGATIVE	1
#define FE_TROUBLE	2

/* What a command says of itself. */
struct fe_command {
	const char	*name;
	const char	*synopsis;	/* "[options] model.gguf > trace" */
	const char	*help;		/* the body of --help; fits a screen */
};

/* Call first: descriptors 0 to 2 are made sure of, SIGPIPE ends us. */
void	fe_init(const struct fe_command *);

const char	*fe_name(void);		/* the command's */

/* "prog: message" on stderr; the second form goes on to exit 2. */
void	fe_warn(const char *, ...) __attribute__((format(printf, 1, 2)));
void	fe_die(const struct cl_err *) __attribute__((noreturn));

/* Misuse: "prog: message", the synopsis, exit 2. */
void	fe_misuse(const char *, ...)
	    __attribute__((format(printf, 1, 2), noreturn));

/* -h and -V: on stdout, exit 0. */
void	fe_help(void) __attribute__((noreturn));
void	fe_version(void) __attribute__((noreturn));

/* Option arguments; what cannot be one is misuse, naming the option. */
uint64_t	fe_u64(const char *option, const char *arg, uint64_t lo,
		    uint64_t hi);
double		fe_f64(const char *option, const char *arg, double lo,
		    double hi);

/* Which of names (ended by NULL) arg is; misuse, listing them, if none. */
unsigned	fe_choice(const char *option, const char *arg,
		    const char *const *names);

/*
 * Of n inputs that will be opened in turn, die of the first that is not there
 * before anything is printed.
 */
void	fe_check_inputs(char *const *paths, int n);

/*
 * Open an input for reading: a path, or "-" for stdin, once.  A terminal is
 * refused.  Dies on failure.
 */
struct cl_src	*fe_input(const char *path);

/*
 * Open the output, of which there is one: NULL or "-" is stdout, else a file
 * that appears whole or not at all.  Binary output to a terminal is refused.
 * Dies on failure.  Where the program dies later, what was written to stdout
 * until then arrives, and a file is not made.
 */
struct cl_dst	*fe_output(const char *path, bool replace, bool binary);

/*
 * The end: finish and free the output (NULL: none), and return the status, or
 * FE_TROUBLE with a message where the output could not be completed.
 */
int	fe_finish(struct cl_dst *, int status);

/*
 * The end of an output that cannot be made whole: a file is not made at all.
 * Returns FE_TROUBLE.
 */
int	fe_abandon(struct cl_dst *);

/* True once SIGINT, SIGTERM or SIGHUP arrived, which end us no longer. */
const atomic_bool	*fe_stop(void);

/*
 * An interrupt at the keyboard reaches a whole pipeline.  Whoever stands at
 * its end calls this to outlive it, and to say what the others, which stop,
 * still have to tell.
 */
void	fe_outlive_interrupt(void);

/* May stdout be coloured?  A terminal, without NO_COLOR. */
bool	fe_colour(void);

/* The folder of the running executable, with no slash behind it. */
const char	*fe_home(void);

/* The folder for temporary files: TMPDIR, or /tmp. */
const char	*fe_scratch(void);

/*
 * A line of progress on stderr, if that is a terminal: "done of total unit,
 * rate, what remains".  total 0: unknown.  Cheap to call often.
 */
void	fe_progress(uint64_t done, uint64_t total, const char *unit);
void	fe_progress_end(void);		/* wipe it */

#endif /* FE_H */
