/*
 * Rows to getopt_long and back: it returns FIRST and the number of the row,
 * or its letter.
 */

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "fe.h"
#include "options.h"

#define ROWS_MAX	64
#define FIRST		256		/* above all letters */
#define SPELLED_MAX	64

/* As it is written, for a message. */
static const char *
spelled(char buf[SPELLED_MAX], const struct options_row *row)
{

	if (row->name != NULL)
		(void)snprintf(buf, SPELLED_MAX, "--%s", row->name);
	else
		(void)snprintf(buf, SPELLED_MAX, "-%c", row->letter);
	return (buf);
}

static void *
place(const struct options_row *row, void *options)
{

	return ((char *)options + row->at);
}

void
options_flag(const struct options_row *row, void *options, const char *arg)
{
	bool *to = place(row, options);

	(void)arg;
	*to = true;
}

void
options_text(const struct options_row *row, void *options, const char *arg)
{
	const char **to = place(row, options);

	*to = arg;
}

void
options_u32(const struct options_row *row, void *options, const char *arg)
{
	uint32_t *to = place(row, options);
	char name[SPELLED_MAX];

	*to = (uint32_t)fe_u64(spelled(name, row), arg, row->lo, row->hi);
}

void
options_u64(const struct options_row *row, void *options, const char *arg)
{
	uint64_t *to = place(row, options);
	char name[SPELLED_MAX];

	*to = fe_u64(spelled(name, row), arg, row->lo, row->hi);
}

void
options_choice(const struct options_row *row, void *options, const char *arg)
{
	unsigned *to = place(row, options);
	char name[SPELLED_MAX];

	*to = fe_choice(spelled(name, row), arg, row->names);
}

void
options_help(const struct options_row *row, void *options, const char *arg)
{

	(void)row, (void)options, (void)arg;
	fe_help();
}

void
options_version(const struct options_row *row, void *options, const char *arg)
{

	(void)row, (void)options, (void)arg;
	fe_version();
}

static bool
is_among(const char *arg, const char *const *names)
{

	while (*names != NULL && strcmp(*names, arg) != 0)
		names++;
	return (*names != NULL);
}

/* What getopt_long wants: a list of names, and letters. */
static void
spell(const struct options_row *row, size_t n, struct option *names,
    char *letters)
{
	static const int arguments[] = {
		[OPTIONS_NONE] = no_argument,
		[OPTIONS_WANTED] = required_argument,
		[OPTIONS_ALLOWED] = optional_argument,
		[OPTIONS_BEHIND] = optional_argument
	};
	size_t i;

	for (i = 0; i < n; i++, row++) {
		if (row->name != NULL) {
			names->name = row->name;
			names->has_arg = arguments[row->argument];
			names->flag = NULL;
			names->val = FIRST + (int)i;
			names++;
		}
		if (row->letter != 0) {
			*letters++ = row->letter;
			if (row->argument == OPTIONS_WANTED)
				*letters++ = ':';
		}
	}
	memset(names, 0, sizeof(*names));
	*letters = '\0';
}

static size_t
find(const struct options_row *row, size_t n, int c)
{
	size_t i;

	if (c >= FIRST)
		return ((size_t)(c - FIRST));
	for (i = 0; i < n && row[i].letter != c; i++)
		continue;
	return (i);
}

int
options_take(const struct options_row *row, size_t n, bool *given,
    void *options, int argc, char **argv)
{
	struct option names[ROWS_MAX + 1];
	char letters[2 * ROWS_MAX + 1];
	const char *next;
	size_t i;
	int c;

	assert(n <= ROWS_MAX);
	spell(row, n, names, letters);
	while ((c = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		if ((i = find(row, n, c)) == n)
			fe_misuse("see %s --help", fe_name());
		next = argv[optind];
		if (row[i].argument == OPTIONS_BEHIND && optarg == NULL &&
		    next != NULL && is_among(next, row[i].names))
			optarg = argv[optind++];
		given[i] = true;
		if (row[i].said != 0)
			*((bool *)((char *)options + row[i].said)) = true;
		row[i].take(&row[i], options, optarg);
	}
	return (optind);
}

void
options_check(const struct options_row *row, size_t n, const bool *given,
    unsigned mode, const char *name)
{
	char option[SPELLED_MAX];
	size_t i;

	for (i = 0; i < n; i++)
		if (given[i] && row[i].modes != 0 &&
		    (row[i].modes & mode) == 0)
			fe_misuse("%s means nothing to %s",
			    spelled(option, &row[i]), name);
}
