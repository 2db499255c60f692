/*
 * Runs a fuzz target over a corpus without a fuzzer, so that any compiler
 * does: each file as it is, cut short, and with bytes changed, in ways that
 * are the same every time.  Prints TAP, a test a file.  Arguments are files,
 * and folders whose files are taken in the order of their names.
 */

#define _GNU_SOURCE

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cl/rng.h"

#define CUTS	 64
#define CHANGES	 256
#define INPUT_MAX (1 << 20)		/* bytes of a corpus file */
#define FILES_MAX 10000

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static char *files[FILES_MAX];
static size_t nfiles;

static void
die(const char *what)
{

	perror(what);
	exit(2);
}

static void
add_file(const char *path)
{

	if (nfiles == FILES_MAX || (files[nfiles++] = strdup(path)) == NULL)
		die(path);
}

static void
add_path(const char *path)
{
	struct dirent **entries;
	struct stat st;
	char child[4096];
	int i, n;

	if (stat(path, &st) == -1)
		die(path);
	if (!S_ISDIR(st.st_mode)) {
		add_file(path);
		return;
	}
	if ((n = scandir(path, &entries, NULL, alphasort)) == -1)
		die(path);
	for (i = 0; i < n; i++) {
		(void)snprintf(child, sizeof(child), "%s/%s", path,
		    entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			add_file(child);
		free(entries[i]);
	}
	free(entries);
}

static size_t
read_file(const char *path, uint8_t *buf)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	if (f == NULL)
		die(path);
	n = fread(buf, 1, INPUT_MAX, f);
	if (ferror(f) || fclose(f) != 0)
		die(path);
	return (n);
}

/* A copy of its own size, so that reading past the end is noticed. */
static void
try(const uint8_t *p, size_t n)
{
	uint8_t *copy = malloc(n == 0 ? 1 : n);

	if (copy == NULL)
		die("memory");
	memcpy(copy, p, n);
	(void)LLVMFuzzerTestOneInput(copy, n);
	free(copy);
}

/* One to four bytes of it become others: extremes as often as any. */
static void
change(uint8_t *p, size_t n, uint64_t *state)
{
	static const uint8_t extremes[] = { 0, 1, 0x7f, 0x80, 0xff };
	uint64_t i, count = 1 + cl_rng_below(state, 4), at;

	for (i = 0; i < count; i++) {
		at = cl_rng_below(state, n);
		if (cl_rng_below(state, 2) == 0)
			p[at] = extremes[cl_rng_below(state, 5)];
		else
			p[at] = (uint8_t)cl_rng_next(state);
	}
}

static void
replay(const char *path, uint8_t *buf, uint8_t *changed)
{
	size_t n = read_file(path, buf);
	uint64_t state = n, i;

	try(buf, n);
	for (i = 0; i < CUTS && n > 0; i++)
		try(buf, (size_t)cl_rng_below(&state, n));
	for (i = 0; i < CHANGES && n > 0; i++) {
		memcpy(changed, buf, n);
		change(changed, n, &state);
		try(changed, n);
	}
}

int
main(int argc, char **argv)
{
	uint8_t *buf = malloc(INPUT_MAX), *changed = malloc(INPUT_MAX);
	size_t i;
	int a;

	if (buf == NULL || changed == NULL)
		die("memory");
	for (a = 1; a < argc; a++)
		add_path(argv[a]);
	printf("1..%zu\n", nfiles);
	for (i = 0; i < nfiles; i++) {
		replay(files[i], buf, changed);
		printf("ok %zu - %s and its like do no harm\n", i + 1,
		    files[i]);
		fflush(stdout);
		free(files[i]);
	}
	free(buf);
	free(changed);
	return (0);
}
