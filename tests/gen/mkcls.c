/*
 * mkcls: a stat stream from lines of text on standard input, for tests that
 * must know every number.
 *
 *	cond NAME TYPE VALUE		before the run begins: none, u64, f64,
 *					str, hash (hexadecimal) or bool
 *	columns KIND NAME:TYPE ...	logical or measured; u64, f64, hash
 *	fact NAME TYPE VALUE		of the machine, before the rows
 *	row KIND SCOPE INDEX TOKENS VALUE ...
 *					run, phase, layer, window; - for none
 *	table KIND NAME KEYS NAME:TYPE ...
 *					may have str columns
 *	cells VALUE ...			a row of the table above; - for none
 *	event PASS TOKEN PHASE LAYER EXPERT:CLASS ...
 *					prefill or decode; behind a class ! for
 *					not kept, >LAYER.EXPERT for a victim;
 *					=TOKEN:PLAIN,...>USED,...>LEFT,... of
 *					a changed choice, as many as PLAIN
 *	end END TOKENS ROUTING		1 to 3; the run is over
 *
 * Words are parted by blanks; in a str, \xHH is a byte and \s a blank.
 */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/decision.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/stats_write.h"

#undef NDEBUG

struct maker {
	struct cl_dst	*dst;
	struct cl_err	 err;
	struct cl_stats_conds conds;
	struct cl_stats_conds facts;
	struct cl_stats_columns columns[3];
	struct cl_stats_writer *writer;	/* of the run at hand, if begun */
	bool		 told;		/* its facts are written */
	struct cl_stats_table table;	/* ncolumns 0: none is open */
	struct cl_stats_columns table_columns;
	char		*table_name;
};

static const char *const types[] = { "none", "u64", "f64", "str", "hash",
    "bool", NULL };
static const char *const kinds[] = { "", "logical", "measured", NULL };
static const char *const scopes[] = { "", "run", "phase", "layer", "window",
    NULL };

static void __attribute__((noreturn))
die(const char *what, const char *word)
{

	fprintf(stderr, "mkcls: %s: %s\n", what, word);
	exit(2);
}

static void
check(const struct maker *m)
{

	if (m->err.code != CL_OK)
		die("cannot write", m->err.msg);
}

static unsigned
choice(const char *const *names, const char *word)
{
	unsigned i;

	for (i = 0; word != NULL && names[i] != NULL; i++)
		if (strcmp(names[i], word) == 0)
			return (i);
	die("unknown word", word == NULL ? "(none)" : word);
}

static char *
word(void)
{
	char *s = strtok(NULL, " \n");

	if (s == NULL)
		die("a word is missing", "at the end of a line");
	return (s);
}

static void
unescape(char *s)
{
	char *to = s;
	unsigned byte;

	for (; *s != '\0'; to++) {
		if (s[0] == '\\' && s[1] == 's') {
			*to = ' ';
			s += 2;
		} else if (sscanf(s, "\\x%2x", &byte) == 1) {
			*to = (char)byte;
			s += 4;
		} else
			*to = *s++;
	}
	*to = '\0';
}

static void
cond(struct maker *m, struct cl_stats_conds *c)
{
	char *name = word(), *s;
	unsigned type = choice(types, word());

	unescape(name);
	s = type == CL_STATS_NONE ? NULL : strtok(NULL, " \n");
	if (s == NULL)
		s = strcpy(name + strlen(name), "");	/* an empty text */
	switch (type) {
	case CL_STATS_NONE:
		(void)cl_stats_set_none(c, name, &m->err);
		break;
	case CL_STATS_U64:
		(void)cl_stats_set_u64(c, name, strtoull(s, NULL, 10),
		    &m->err);
		break;
	case CL_STATS_F64:
		(void)cl_stats_set_f64(c, name, strtod(s, NULL), &m->err);
		break;
	case CL_STATS_STR:
		unescape(s);
		(void)cl_stats_set_str(c, name, s, &m->err);
		break;
	case CL_STATS_HASH:
		(void)cl_stats_set_hash(c, name, strtoull(s, NULL, 16),
		    &m->err);
		break;
	default:
		(void)cl_stats_set_bool(c, name, *s == '1', &m->err);
		break;
	}
	check(m);
}

static void
begin(struct maker *m)
{

	if (m->writer != NULL)
		return;
	m->writer = cl_stats_writer_new(m->dst, &m->conds, &m->err);
	check(m);
}

/* NAME:TYPE ... up to the end of the line. */
static void
name_columns(struct maker *m, struct cl_stats_columns *c)
{
	char *s, *colon;

	cl_stats_columns_free(c);
	while ((s = strtok(NULL, " \n")) != NULL) {
		if ((colon = strchr(s, ':')) == NULL)
			die("a column without a type", s);
		(void)cl_stats_add_column(c,
		    (enum cl_stats_type)choice(types, colon + 1), s,
		    (size_t)(colon - s), &m->err);
	}
}

static void
columns(struct maker *m)
{
	unsigned kind = choice(kinds, word());
	struct cl_stats_columns *c = &m->columns[kind];

	begin(m);
	name_columns(m, c);
	c->kind = (enum cl_stats_kind)kind;
	(void)cl_stats_write_columns(m->writer, c, &m->err);
	check(m);
}

static void
facts(struct maker *m)
{

	if (m->facts.n > 0 && !m->told)
		(void)cl_stats_write_machine(m->writer, &m->facts, &m->err);
	m->told = true;
}

/* As many values as there are columns. */
static void
take_values(struct cl_stats_value *value, const struct cl_stats_column *c,
    size_t n)
{
	char *s;
	size_t i;

	memset(value, 0, n * sizeof(*value));
	for (i = 0; i < n; i++) {
		s = word();
		value[i].there = strcmp(s, "-") != 0;
		value[i].s = s;
		if (c[i].type == CL_STATS_F64)
			value[i].f = strtod(s, NULL);
		else if (c[i].type == CL_STATS_STR)
			unescape(s);
		else
			value[i].u = strtoull(s, NULL,
			    c[i].type == CL_STATS_HASH ? 16 : 10);
	}
}

static void
row(struct maker *m)
{
	struct cl_stats_value value[CL_STATS_COLUMNS_MAX];
	struct cl_stats_row r = { 0 };
	const struct cl_stats_columns *c;

	r.kind = (enum cl_stats_kind)choice(kinds, word());
	r.scope = (enum cl_stats_scope)choice(scopes, word());
	r.index = (uint32_t)strtoul(word(), NULL, 10);
	r.tokens = strtoull(word(), NULL, 10);
	c = &m->columns[r.kind];
	r.n = c->n;
	r.value = value;
	take_values(value, c->column, c->n);
	facts(m);
	(void)cl_stats_write_row(m->writer, &r, &m->err);
	check(m);
}

/* The table that is open, if any, is over. */
static void
close_table(struct maker *m)
{

	if (m->table.ncolumns == 0)
		return;
	(void)cl_stats_write_table_end(m->writer, &m->err);
	check(m);
	m->table.ncolumns = 0;
	free(m->table_name);
}

static void
table(struct maker *m)
{

	facts(m);
	m->table.kind = (enum cl_stats_kind)choice(kinds, word());
	m->table.name = m->table_name = strdup(word());
	m->table.nkeys = strtoul(word(), NULL, 10);
	name_columns(m, &m->table_columns);
	m->table.ncolumns = m->table_columns.n;
	m->table.column = m->table_columns.column;
	(void)cl_stats_write_table_head(m->writer, &m->table, &m->err);
	check(m);
}

static void
cells(struct maker *m)
{
	struct cl_stats_value value[CL_STATS_COLUMNS_MAX];

	take_values(value, m->table.column, m->table.ncolumns);
	(void)cl_stats_write_table_row(m->writer, value, &m->err);
	check(m);
}

/* EXPERT:CLASS and what may stand behind it. */
static uint8_t
member(char *s, uint32_t *expert, struct cl_decision_victim *v)
{
	static const char *const names[] = { "hit", "staged", "cold",
	    "capacity", NULL };
	unsigned flags = 0;
	char *p;

	*expert = (uint32_t)strtoul(s, &s, 10);
	if ((p = strchr(s, '>')) != NULL) {
		v->layer = (uint32_t)strtoul(p + 1, &p, 10);
		v->expert = (uint32_t)strtoul(p + 1, NULL, 10);
		flags |= CL_DECISION_THREW;
		*strchr(s, '>') = '\0';
	}
	if ((p = strchr(s, '!')) != NULL) {
		flags |= CL_DECISION_NOT_KEPT;
		*p = '\0';
	}
	return ((uint8_t)(choice(names, s + 1) | flags));
}

/* Numbers with commas between them, up to what is none; how many. */
static uint32_t
numbers(char **s, uint16_t *to)
{
	uint32_t n = 0;

	for (; **s >= '0' && **s <= '9'; *s += **s == ',')
		to[n++] = (uint16_t)strtoul(*s, s, 10);
	return (n);
}

/* =TOKEN:PLAIN,...>USED,...>LEFT,... ; how many experts that are in all. */
static uint32_t
changed(char *s, struct cl_decision_change *c, uint16_t *choice)
{
	uint32_t n;

	c->token = (uint32_t)strtoul(s + 1, &s, 10);
	s++;
	c->n = numbers(&s, choice);
	s++;
	c->nused = numbers(&s, choice + c->n);
	s += *s == '>';
	n = c->n + c->nused + numbers(&s, choice + c->n + c->nused);
	if (n != 2 * c->n || *s != '\0')
		die("no such change", s);
	return (n);
}

static void
event(struct maker *m)
{
	static const char *const phases[] = { "prefill", "decode", NULL };
	uint32_t expert[64];
	uint8_t class[64];
	struct cl_decision_victim victim[64];
	struct cl_decision_change change[64];
	uint16_t ids[1024];
	struct cl_decision d = { .expert = expert, .class = class,
	    .victim = victim, .change = change, .choice = ids };
	uint32_t nids = 0;
	char *s;

	d.pass = strtoull(word(), NULL, 10);
	d.token = strtoull(word(), NULL, 10);
	d.prefill = choice(phases, word()) == 0;
	d.layer = (uint32_t)strtoul(word(), NULL, 10);
	while ((s = strtok(NULL, " \n")) != NULL && d.n + d.nchanges < 64) {
		if (*s == '=') {
			nids += changed(s, &change[d.nchanges++],
			    ids + nids);
			continue;
		}
		class[d.n] = member(s, &expert[d.n], &victim[d.nvictims]);
		d.nvictims += (class[d.n++] & CL_DECISION_THREW) != 0;
	}
	facts(m);
	(void)cl_stats_write_decision(m->writer, &d, &m->err);
	check(m);
}

static void
end(struct maker *m)
{
	struct cl_stats_end e = { 0 };

	e.end = (unsigned)strtoul(word(), NULL, 10);
	e.tokens = strtoull(word(), NULL, 10);
	e.routing = strtoull(word(), NULL, 16);
	begin(m);
	facts(m);
	(void)cl_stats_writer_finish(m->writer, &e, &m->err);
	check(m);
	cl_stats_writer_free(m->writer);
	m->writer = NULL;
	m->told = false;
	cl_stats_conds_free(&m->conds);
	cl_stats_conds_free(&m->facts);
}

int
main(void)
{
	struct maker m = { 0 };
	char line[8192], *verb;

	if ((m.dst = cl_dst_fd(1, "standard output", &m.err)) == NULL)
		check(&m);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if ((verb = strtok(line, " \n")) == NULL || *verb == '#')
			continue;
		if (strcmp(verb, "cells") == 0) {
			cells(&m);
			continue;
		}
		close_table(&m);
		if (strcmp(verb, "cond") == 0)
			cond(&m, &m.conds);
		else if (strcmp(verb, "fact") == 0)
			cond(&m, &m.facts);
		else if (strcmp(verb, "columns") == 0)
			columns(&m);
		else if (strcmp(verb, "row") == 0)
			row(&m);
		else if (strcmp(verb, "table") == 0)
			table(&m);
		else if (strcmp(verb, "event") == 0)
			event(&m);
		else if (strcmp(verb, "end") == 0)
			end(&m);
		else
			die("unknown verb", verb);
	}
	(void)cl_dst_finish(m.dst, &m.err);
	check(&m);
	cl_dst_free(m.dst);
	cl_stats_columns_free(&m.columns[1]);
	cl_stats_columns_free(&m.columns[2]);
	cl_stats_columns_free(&m.table_columns);
	cl_stats_conds_free(&m.conds);
	cl_stats_conds_free(&m.facts);
	cl_stats_writer_free(m.writer);
	return (0);
}
