/*
 * The voice of the commands.  Whatever is said goes to stderr as one line,
 * with bytes that could steer a terminal made harmless.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cl/clock.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/src.h"
#include "cl/text.h"
#include "fe.h"

#define PROGRESS_NS	100000000u	/* between two lines of progress */
#define RATE_NS		2000000000u	/* before a rate is worth showing */

static const struct fe_command *command;
static atomic_bool stopped;
static struct cl_dst *output;		/* open, or NULL */
static char unfinished[4096];		/* a file that must not stay, or "" */
static char said[sizeof(((struct cl_err *)0)->msg)];	/* last */
static bool stdin_taken;
static bool progress_shown;

/*
 * A descriptor below 3 that is closed would be taken by the next file opened,
 * and that file would be written over.
 */
static void
hold_descriptors(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
			(void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

void
fe_init(const struct fe_command *c)
{

	command = c;
	hold_descriptors();
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_IGN);		/* a write says it, too */
}

const char *
fe_name(void)
{

	return (command->name);
}

/* Have handler called for what asks us to end, except where nohup forbids. */
static void
catch_signals(void (*handler)(int), int flags)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa, old;
	size_t i;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sa.sa_flags = flags;
	(void)sigemptyset(&sa.sa_mask);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &sa, NULL);
}

/* Where a signal ends us at once: not without our half-made file. */
static void
sweep(int sig)
{

	if (unfinished[0] != '\0')
		(void)unlink(unfinished);
	(void)raise(sig);
}

static void
say(const char *text)
{
	char vis[2048];

	fe_progress_end();
	fprintf(stderr, "%s: %s\n", command->name,
	    cl_text_vis(vis, sizeof(vis), text, strlen(text)));
	(void)snprintf(said, sizeof(said), "%s", text);
}

void
fe_warn(const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(text);
}

/*
 * The end by misuse or failure: what was printed before it arrives, and of an
 * output file nothing stays.
 */
static void __attribute__((noreturn))
leave(void)
{

	if (output != NULL) {
		(void)cl_dst_flush(output, NULL);
		cl_dst_free(output);
	}
	exit(FE_TROUBLE);
}

void
fe_die(const struct cl_err *err)
{

	say(err->msg);
	leave();
}

void
fe_misuse(const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(text);
	fprintf(stderr, "usage: %s %s\n", command->name, command->synopsis);
	leave();
}

/* Nothing was said if it did not arrive. */
static void __attribute__((noreturn))
exit_flushed(void)
{

	if (fflush(stdout) != 0) {
		fe_warn("standard output: cannot write: %s", strerror(errno));
		exit(FE_TROUBLE);
	}
	exit(FE_DONE);
}

void
fe_help(void)
{

	printf("usage: %s %s\n%s", command->name, command->synopsis,
	    command->help);
	exit_flushed();
}

void
fe_version(void)
{

	printf("%s %s\n", command->name, CL_VERSION);
	exit_flushed();
}

uint64_t
fe_u64(const char *option, const char *arg, uint64_t lo, uint64_t hi)
{
	struct cl_err err = { 0 };
	uint64_t v;

	if (cl_text_u64(arg, lo, hi, &v, &err) != CL_OK)
		fe_misuse("%s %s", option, err.msg);
	return (v);
}

double
fe_f64(const char *option, const char *arg, double lo, double hi)
{
	struct cl_err err = { 0 };
	double v;

	if (cl_text_f64(arg, lo, hi, &v, &err) != CL_OK)
		fe_misuse("%s %s", option, err.msg);
	return (v);
}

unsigned
fe_choice(const char *option, const char *arg, const char *const *names)
{
	char list[512] = "";
	size_t n = 0;
	unsigned i;

	for (i = 0; names[i] != NULL; i++)
		if (strcmp(arg, names[i]) == 0)
			return (i);
	for (i = 0; names[i] != NULL && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
		    i == 0 ? "" : ", ", names[i]);
	fe_misuse("%s \"%.60s\": one of %s is wanted", option, arg, list);
}

void
fe_check_inputs(char *const *paths, int n)
{
	struct cl_err err = { 0 };
	int i;

	for (i = 0; i < n; i++) {
		if (strcmp(paths[i], "-") == 0 || access(paths[i], R_OK) == 0)
			continue;
		cl_fail_errno(&err, "%s: cannot open", paths[i]);
		fe_die(&err);
	}
}

struct cl_src *
fe_input(const char *path)
{
	struct cl_err err = { 0 };
	struct cl_src *src;

	if (strcmp(path, "-") == 0) {
		if (stdin_taken)
			fe_misuse("standard input can be read only once");
		stdin_taken = true;
		path = "standard input";
		src = cl_src_fd(STDIN_FILENO, path, &stopped, &err);
	} else
		src = cl_src_file(path, &stopped, &err);
	if (src == NULL)
		fe_die(&err);
	if (isatty(cl_src_descriptor(src)))
		fe_misuse("%s is a terminal; a file or a pipe is wanted", path);
	return (src);
}

struct cl_dst *
fe_output(const char *path, bool replace, bool binary)
{
	struct cl_err err = { 0 };
	const char *temp;

	if (path == NULL || strcmp(path, "-") == 0) {
		if (binary && isatty(STDOUT_FILENO))
			fe_misuse("standard output is a terminal and would "
			    "get binary data; redirect it, or give -o FILE");
		output = cl_dst_fd(STDOUT_FILENO, "standard output", &err);
	} else {
		catch_signals(sweep, (int)(SA_RESETHAND | SA_NODEFER));
		output = cl_dst_file(path, replace, &err);
	}
	if (output == NULL) {
		if (err.code == CL_EINVAL)
			fe_warn("%s; --force replaces it", err.msg);
		else
			fe_die(&err);
		leave();
	}
	if ((temp = cl_dst_temp(output)) != NULL)
		(void)snprintf(unfinished, sizeof(unfinished), "%s", temp);
	return (output);
}

/* What a failed write has already ended is met here again, and told once. */
int
fe_finish(struct cl_dst *dst, int status)
{
	struct cl_err err = { 0 };

	fe_progress_end();
	if (dst != NULL && cl_dst_finish(dst, &err) != CL_OK) {
		if (strcmp(err.msg, said) != 0)
			say(err.msg);
		status = FE_TROUBLE;
	}
	cl_dst_free(dst);
	output = NULL;
	return (status);
}

int
fe_abandon(struct cl_dst *dst)
{

	fe_progress_end();
	cl_dst_free(dst);
	output = NULL;
	return (FE_TROUBLE);
}

static void
note_signal(int sig)
{

	(void)sig;
	atomic_store(&stopped, true);
}

const atomic_bool *
fe_stop(void)
{

	catch_signals(note_signal, 0);
	return (&stopped);
}

void
fe_outlive_interrupt(void)
{

	(void)signal(SIGINT, SIG_IGN);
}

const char *
fe_scratch(void)
{
	const char *dir = getenv("TMPDIR");

	return (dir == NULL || *dir == '\0' ? "/tmp" : dir);
}

bool
fe_colour(void)
{
	const char *no = getenv("NO_COLOR");

	return ((no == NULL || *no == '\0') && isatty(STDOUT_FILENO));
}

const char *
fe_home(void)
{
	static char path[4096];
	ssize_t n;
	char *slash;

	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n <= 0)
		return (".");
	path[n] = '\0';
	if ((slash = strrchr(path, '/')) != NULL)
		*slash = '\0';
	return (path);
}

/* "2m05s", for what remains. */
static const char *
duration(char buf[32], double seconds)
{
	unsigned long s = seconds > 3e6 ? 3000000 : (unsigned long)seconds;

	if (s >= 3600)
		(void)snprintf(buf, 32, "%luh%02lum", s / 3600,
		    s / 60 % 60);
	else if (s >= 60)
		(void)snprintf(buf, 32, "%lum%02lus", s / 60, s % 60);
	else
		(void)snprintf(buf, 32, "%lus", s);
	return (buf);
}

void
fe_progress(uint64_t done, uint64_t total, const char *unit)
{
	static uint64_t start_ns, shown_ns, start_done, shown_done;
	static int terminal = -1;
	char rest[32], of[32] = "", n[32];
	uint64_t now;
	double rate;

	if (terminal == -1)
		terminal = isatty(STDERR_FILENO);
	if (!terminal || (now = cl_clock_ns()) - shown_ns < PROGRESS_NS)
		return;
	if (start_ns == 0 || done < shown_done) {	/* of another input */
		start_ns = now;
		start_done = done;
	}
	shown_ns = now;
	shown_done = done;
	if (total > 0)
		(void)snprintf(of, sizeof(of), " of %llu",
		    (unsigned long long)total);
	fprintf(stderr, "\r\033[K%s: %s%s %s", command->name,
	    cl_text_count(n, done), of, unit);
	if (now - start_ns >= RATE_NS && done > start_done) {
		rate = (double)(done - start_done) * 1e9 /
		    (double)(now - start_ns);
		fprintf(stderr, ", %.*f/s", rate < 10 ? 2 : 0, rate);
		if (total > done)
			fprintf(stderr, ", %s left", duration(rest,
			    (double)(total - done) / rate));
	}
	fflush(stderr);
	progress_shown = true;
}

void
fe_progress_end(void)
{

	if (progress_shown)
		fprintf(stderr, "\r\033[K");
	progress_shown = false;
}
