/*
 * Traces by their bytes: a decoder written from the manual alone agrees with
 * ours; whatever the manual forbids is refused; input may stop, or be cut into
 * frames, at any byte.
 */

#include <stdio.h>

#include "cl/crc.h"
#include "cl/err.h"
#include "cl/hash.h"
#include "trace_bytes.h"
#include "trace_make.h"

/* The checksum bit by bit, as RFC 3720 has it. */
static uint32_t
slow_crc(uint32_t c, const uint8_t *p, size_t n)
{
	int i;

	for (; n > 0; n--, p++)
		for (c ^= *p, i = 0; i < 8; i++)
			c = c >> 1 ^ (0x82f63b78u & (0u - (c & 1)));
	return (c);
}

/* The decoder from scratch: walks bytes, and holds them against a reader. */
struct scratch {
	const uint8_t	*p;
	const struct cl_trace_head *head;
	struct cl_hash	 routing;	/* of ids that are explicit */
};

static bool
has(const uint8_t *bits, uint32_t t)
{

	return ((bits[t / 8] & 1 << t % 8) != 0);
}

static const uint8_t *
take(struct scratch *s, size_t n)
{
	const uint8_t *p = s->p;

	s->p += n;
	return (p);
}

static uint32_t
total(const uint8_t *bits, uint32_t n)
{
	uint32_t t, sum = 0;

	for (t = 0; t < n; t++)
		sum += has(bits, t);
	return (sum);
}

/* Planes of rows against floats: f32 bit by bit, f16 by value. */
static void
scratch_rows(struct scratch *s, const uint8_t *bits, uint32_t n,
    uint32_t nexperts, const float *scores, const uint32_t *row)
{
	unsigned bytes = s->head->scores == CL_SCORES_F32 ? 4 : 2, b;
	size_t values = (size_t)total(bits, n) * nexperts, at = 0, i;
	const uint8_t *planes = take(s, values * bytes);
	uint32_t t, u, got;

	for (t = 0; t < n; t++) {
		if (!has(bits, t)) {
			assert(row[t] == UINT32_MAX);
			continue;
		}
		for (i = 0; i < nexperts; i++, at++) {
			for (u = 0, b = 0; b < bytes; b++)
				u |= (uint32_t)planes[b * values + at] <<
				    8 * b;
			memcpy(&got, &scores[row[t] * nexperts + i], 4);
			if (bytes == 2 && (u & 0x7c00) != 0 &&
			    (u & 0x7c00) != 0x7c00)
				u = (u & 0x8000) << 16 |
				    ((u & 0x7fff) + (112 << 10)) << 13;
			else if (bytes == 2 && (u & 0x7fff) == 0)
				u <<= 16;
			else if (bytes == 2)
				continue;	/* subnormal, inf or NaN */
			assert(u == got);
		}
	}
}

static void
scratch_column(struct scratch *s, uint32_t n, const struct cl_trace_column *c)
{
	const uint8_t *present = take(s, (n + 7) / 8), *counts, *ids;
	const uint8_t *given = take(s, (n + 7) / 8), *foreseen, *w = NULL;
	unsigned width = c->nexperts <= 256 ? 1 : 2;
	uint32_t t, i, x = total(given, n), sum = 0, chosen;

	if (s->head->scores != CL_SCORES_NONE)
		scratch_rows(s, present, n, c->nexperts, c->scores, c->row);
	if (s->head->forecast) {
		foreseen = take(s, (n + 7) / 8);
		scratch_rows(s, foreseen, n, c->nexperts, c->forecast,
		    c->forecast_row);
	}
	counts = take(s, 2 * (size_t)x);
	for (i = 0; i < x; i++)
		sum += (uint32_t)le(counts + 2 * i, 2);
	ids = take(s, (size_t)sum * width);
	if (s->head->weights)
		w = take(s, 4 * (size_t)sum);
	for (t = 0; t < n; t++) {
		chosen = c->first[t + 1] - c->first[t];
		assert((chosen > 0) == has(present, t));
		assert((c->given[t] != 0) == has(given, t));
		if (!has(given, t)) {
			assert(chosen == 0 || chosen == c->k);
			continue;
		}
		assert(chosen == le(counts, 2));
		counts += 2;
		for (i = 0; i < chosen; i++, ids += width) {
			assert(c->ids[c->first[t] + i] == le(ids, width));
			assert(w == NULL || memcmp(&c->weights[c->first[t] +
			    i], w, 4) == 0);
			w = w == NULL ? NULL : w + 4;
		}
	}
}

static void
scratch_block(struct scratch *s, const struct cl_trace_block *b)
{
	uint32_t n = (uint32_t)le(take(s, 4), 4), t, i;
	const uint8_t *zero = take(s, 4), *pass = take(s, 8);
	const uint8_t *seq = take(s, 4 * (size_t)n);
	const uint8_t *pos = take(s, 4 * (size_t)n), *flags = take(s, n);
	const uint8_t *id = s->head->tokens ? take(s, 4 * (size_t)n) : NULL;
	const struct cl_trace_token *tok;

	assert(n == b->ntokens && le(zero, 4) == 0);
	assert(le(pass, 8) == b->tokens[0].pass);
	for (t = 0; t < n; t++) {
		tok = &b->tokens[t];
		assert(le(seq + 4 * t, 4) == tok->seq);
		assert(le(pos + 4 * t, 4) == tok->pos);
		assert(flags[t] == (tok->decode ? 1 : 0) +
		    (tok->padding ? 2 : 0) + (tok->begins ? 4 : 0));
		assert((id == NULL ? UINT32_MAX : le(id + 4 * t, 4)) ==
		    (uint32_t)tok->token);
	}
	for (i = 0; i < b->ncolumns; i++)
		scratch_column(s, n, &b->columns[i]);
}

/* The fingerprint by the manual, from what the reader gave. */
static void
scratch_routing(struct cl_hash *h, const struct cl_trace_block *b)
{
	const struct cl_trace_column *c;
	uint8_t bytes[9];
	uint32_t t, i, j;

	for (t = 0; t < b->ntokens; t++) {
		for (i = 0; i < 4; i++) {
			bytes[i] = (uint8_t)(b->tokens[t].seq >> 8 * i);
			bytes[4 + i] = (uint8_t)(b->tokens[t].pos >> 8 * i);
		}
		bytes[8] = (uint8_t)(b->tokens[t].decode +
		    2 * b->tokens[t].padding + 4 * b->tokens[t].begins);
		cl_hash_add(h, bytes, 9);
		for (c = b->columns; c < b->columns + b->ncolumns; c++) {
			if (c->first[t] == c->first[t + 1])
				continue;
			for (i = 0; i < 4; i++)
				bytes[i] = (uint8_t)(c->layer >> 8 * i);
			bytes[4] = (uint8_t)(c->first[t + 1] - c->first[t]);
			bytes[5] = (uint8_t)((c->first[t + 1] -
			    c->first[t]) >> 8);
			cl_hash_add(h, bytes, 6);
			for (j = c->first[t]; j < c->first[t + 1]; j++) {
				bytes[0] = (uint8_t)c->ids[j];
				bytes[1] = (uint8_t)(c->ids[j] >> 8);
				cl_hash_add(h, bytes, 2);
			}
		}
	}
}

/* One record of the bytes against what the reader says of it. */
static void
scratch_record(struct scratch *s, const struct cl_trace_rec *rec,
    uint64_t nrecords)
{
	unsigned type = (unsigned)le(s->p, 2);
	size_t len = (size_t)le(s->p + 4, 4);
	const uint8_t *end = s->p + RECORD + len, *p = s->p + RECORD;

	assert(le(s->p + 2, 2) == 0);
	assert(le(s->p + 8, 4) == (uint32_t)~slow_crc(slow_crc(UINT32_MAX,
	    s->p, 8), p, len));
	s->p = p;
	if (type == 3) {
		assert(rec->kind == CL_TRACE_SEQ && le(p, 4) == rec->seq);
		assert(le(p + 4, 2) == strlen(rec->name));
		assert(memcmp(p + 6, rec->name, strlen(rec->name)) == 0);
		s->p += 6 + strlen(rec->name);
	} else if (type == 4) {
		assert(rec->kind == CL_TRACE_BLOCK);
		scratch_block(s, rec->block);
		scratch_routing(&s->routing, rec->block);
	} else {
		assert(type == 5 && rec->kind == CL_TRACE_TRAILER);
		assert(p[0] == rec->counts->end && le(p + 1, 7) == 0);
		assert(le(p + 8, 8) == nrecords);
		assert(le(p + 24, 8) == rec->counts->tokens);
		assert(le(p + 64, 8) == cl_hash_end(&s->routing));
		s->p += 72;
	}
	assert(s->p == end);
}

static void
a_decoder_from_scratch_agrees(void)
{
	const struct cl_trace_rec *rec;
	struct cl_trace_reader *r;
	struct cl_buf b, plain;
	struct scratch s;
	uint64_t nrecords;
	size_t i;

	for (i = 0; i < NKINDS; i++) {
		cl_buf_init(&b);
		cl_buf_init(&plain);
		make_trace(&kinds[i], &b, NULL);
		unzip(&b, &plain);
		r = cl_trace_reader_new(mem_src(b.p, b.n, 99),
		    CL_TRACE_WEIGHTS, NULL);
		assert(r != NULL && cl_trace_read(r, &rec, NULL) == CL_OK);
		s.head = rec->head;
		s.p = plain.p;
		cl_hash_init(&s.routing);
		assert(memcmp(s.p, "CLT\x1a\1\0\0\0", 8) == 0);
		s.p += PREAMBLE;
		for (nrecords = 0; nrecords < 7; nrecords++) {
			assert(le(s.p, 2) == (nrecords == 0 ? 1 : 2));
			s.p += RECORD + le(s.p + 4, 4);
		}
		while (cl_trace_read(r, &rec, NULL) == CL_OK)
			scratch_record(&s, rec, ++nrecords);
		assert(s.p == plain.p + plain.n);
		cl_trace_reader_free(r);
		cl_buf_free(&b);
		cl_buf_free(&plain);
	}
}

/* Damage: bytes of the payload of the nth record of a type become others. */
struct damage {
	unsigned	 type;
	size_t		 nth;
	size_t		 off;
	unsigned	 nbytes;
	uint64_t	 value;
	int		 code;
	const char	*why;
};

static void
seal(uint8_t *record)
{
	uint32_t sum = cl_crc_add(0, record, 8);
	int i;

	sum = cl_crc_add(sum, record + RECORD, (size_t)le(record + 4, 4));
	for (i = 0; i < 4; i++)
		record[8 + i] = (uint8_t)(sum >> 8 * i);
}

static void
is_refused(const struct cl_buf *plain, int code, const char *why)
{
	struct cl_err err = { 0 };
	struct cl_buf again;
	uint64_t tokens, traces;
	int status;

	cl_buf_init(&again);
	zip(plain->p, plain->n, 65536, &again);
	status = read_all(again.p, again.n, 999, CL_TRACE_CHECK, &tokens,
	    &traces, &err);
	if (status != code || strstr(err.msg, why) == NULL)
		fprintf(stderr, "# %s: %d %s\n", why, status, err.msg);
	assert(status == code && strstr(err.msg, why) != NULL);
	assert(traces == 0 && err.code == code);
	cl_buf_free(&again);
}

static size_t
find_record(const struct cl_buf *plain, unsigned type, size_t nth)
{
	size_t at[200], n = find_records(plain, at, 200), i;

	for (i = 0; i < n; i++)
		if (le(plain->p + at[i], 2) == type && nth-- == 0)
			return (at[i]);
	assert(false);
	return (0);
}

static void
damage(const struct make *m, const struct damage *d)
{
	struct cl_buf b, plain;
	size_t at;
	unsigned i;

	cl_buf_init(&b);
	cl_buf_init(&plain);
	make_trace(m, &b, NULL);
	unzip(&b, &plain);
	at = find_record(&plain, d->type, d->nth);
	for (i = 0; i < d->nbytes; i++)
		plain.p[at + RECORD + d->off + i] =
		    (uint8_t)(d->value >> 8 * i);
	seal(plain.p + at);
	is_refused(&plain, d->code, d->why);
	cl_buf_free(&b);
	cl_buf_free(&plain);
}

/* Of kinds[0]: names and notes of trace_make.h give the offsets. */
static const struct damage forbidden[] = {
	{ 1, 0, 0, 1, 0, CL_EFORMAT, "HEAD record: origin 0" },
	{ 1, 0, 0, 1, 5, CL_EFORMAT, "HEAD record: origin 5" },
	{ 1, 0, 1, 1, 3, CL_EFORMAT, "scores of unknown kind 3" },
	{ 1, 0, 1, 1, 0, CL_EFORMAT, "a forecast without scores" },
	{ 1, 0, 2, 1, 8, CL_EFORMAT, "reserved bits" },
	{ 1, 0, 3, 1, 1, CL_EFORMAT, "reserved bits" },
	{ 1, 0, 4, 4, 0, CL_EFORMAT, "blocks of 0 tokens" },
	{ 1, 0, 4, 4, 4097, CL_EFORMAT, "blocks of 4097 tokens" },
	{ 1, 0, 4, 4, 8, CL_EFORMAT, "BLOCK record: 9 tokens, 1 to 8" },
	{ 1, 0, 16, 4, 0, CL_EFORMAT, "0 layers" },
	{ 1, 0, 16, 4, 4097, CL_EFORMAT, "4097 layers, 1 to 4096" },
	{ 1, 0, 16, 4, 5, CL_EFORMAT, "LAYER record: not expected" },
	{ 1, 0, 16, 4, 7, CL_EFORMAT, "where a LAYER record is" },
	{ 1, 0, 20, 4, UINT32_MAX, CL_EFORMAT, "4294967295 notes" },
	{ 1, 0, 24, 4, UINT32_MAX, CL_EFORMAT, "4294967295 shards" },
	{ 1, 0, 28, 4, UINT32_MAX, CL_EFORMAT, "4294967295 dense" },
	{ 1, 0, 20, 4, 1, CL_EFORMAT, "HEAD record: " },
	{ 1, 0, 32, 2, UINT16_MAX, CL_EFORMAT, "a string does not" },
	{ 1, 0, 34, 1, 0, CL_EFORMAT, "or holds a NUL" },
	{ 2, 0, 0, 4, 1, CL_EFORMAT, "layer 1 where layer 0 is due" },
	{ 2, 1, 4, 4, 16385, CL_EFORMAT, "16385 experts, at most" },
	{ 2, 1, 4, 4, 0, CL_EFORMAT, "LAYER record: its fields" },
	{ 2, 1, 8, 4, 0, CL_EFORMAT, "layer 1: k is 0" },
	{ 2, 1, 8, 4, 9, CL_EFORMAT, "layer 1: k is 9 with 8" },
	{ 2, 0, 8, 4, 1, CL_EFORMAT, "a dense layer with k 1" },
	{ 2, 1, 12, 1, 2, CL_EFORMAT, "reserved bits" },
	{ 2, 1, 13, 1, 17, CL_EFORMAT, "17 slabs, and it can hold" },
	{ 2, 1, 14, 2, 1, CL_EFORMAT, "reserved bits" },
	{ 2, 1, 16, 8, 1, CL_EFORMAT, "experts of 1 bytes whose" },
	{ 2, 1, 24, 4, 1u << 31, CL_EFORMAT, "2147483648 dense" },
	{ 2, 1, 28, 1, 0, CL_EFORMAT, "unknown kind 0" },
	{ 2, 1, 28, 1, 5, CL_EFORMAT, "unknown kind 5" },
	{ 2, 1, 29, 1, 2, CL_EFORMAT, "slab of unknown layout 2" },
	{ 2, 1, 30, 2, 1, CL_EFORMAT, "reserved bits" },
	{ 2, 1, 36, 4, 1, CL_EFORMAT, "shard 1 of 1" },
	{ 2, 1, 40, 8, UINT64_MAX, CL_EFORMAT, "do not lie inside" },
	{ 2, 1, 48, 8, UINT64_MAX, CL_EFORMAT, "do not lie inside" },
	{ 2, 1, 56, 8, 0, CL_EFORMAT, "experts of no bytes" },
	{ 2, 1, 136, 1, 0, CL_EFORMAT, "gating function 0" },
	{ 2, 1, 136, 1, 5, CL_EFORMAT, "gating function 5" },
	{ 2, 1, 137, 1, 0, CL_EFORMAT, "selection source 0" },
	{ 2, 1, 137, 1, 4, CL_EFORMAT, "no scores can give" },
	{ 2, 1, 138, 1, 16, CL_EFORMAT, "bits of its rule" },
	{ 2, 1, 138, 1, 4, CL_EFORMAT, "its fields do not fit" },
	{ 2, 1, 139, 1, 1, CL_EFORMAT, "bits of its rule" },
	{ 2, 1, 140, 4, 3, CL_EFORMAT, "groups of 8" },
	{ 2, 1, 140, 4, 0, CL_EFORMAT, "groups of 8" },
	{ 2, 1, 144, 4, 2, CL_EFORMAT, "2 of 1 groups" },
	{ 2, 1, 148, 4, 0x7f800000, CL_EFORMAT, "no number" },
	{ 2, 1, 152, 4, 128, CL_EFORMAT, "unknown parts" },
	{ 2, 4, 4, 4, 16384, CL_EFORMAT, "16384 places of experts, and" },
	{ 2, 4, 29, 1, 0, CL_EFORMAT, "LAYER record: " },
	{ 2, 4, 36, 4, 1, CL_EFORMAT, "a place for each expert, and" },
	{ 2, 4, 40, 8, 1, CL_EFORMAT, "a place for each expert, and" },
	{ 2, 4, 48, 8, 50, CL_EFORMAT, "a place for each expert, and" },
	{ 2, 4, 64, 4, 1, CL_EFORMAT, "up: expert 0, 50 bytes at byte 30000, "
	    "does not lie inside shard 1 of 1" },
	{ 2, 4, 116, 8, 99951, CL_EFORMAT, "expert 4, 50 bytes at byte 99951" },
	{ 2, 0, 28, 4, 1, CL_EFORMAT, "shard 1 of 1" },
	{ 2, 0, 32, 8, 99991, CL_EFORMAT, "does not lie inside" },
	{ 3, 0, 0, 4, 1, CL_EFORMAT, "sequence 1 where sequence 0" },
	{ 3, 0, 4, 2, 7, CL_EFORMAT, "SEQUENCE record: its fields" },
	{ 3, 0, 4, 2, 99, CL_EFORMAT, "SEQUENCE record: its fields" },
	{ 4, 0, 0, 4, 0, CL_EFORMAT, "0 tokens, 1 to 9" },
	{ 4, 0, 0, 4, 10, CL_EFORMAT, "10 tokens, 1 to 9" },
	{ 4, 0, 0, 4, 8, CL_EFORMAT, "BLOCK record: " },
	{ 4, 0, 4, 4, 1, CL_EFORMAT, "reserved bytes" },
	{ 4, 0, 8, 8, 1, CL_EFORMAT, "pass 1 where pass 0 is due" },
	{ 4, 1, 8, 8, 0, CL_EFORMAT, "pass 0 where pass" },
	{ 4, 0, 16, 4, 99, CL_EFORMAT, "token 0 is of sequence 99" },
	{ 4, 0, 88, 1, 0, CL_EFORMAT, "begins no pass" },
	{ 4, 0, 89, 1, 8, CL_EFORMAT, "unknown flags" },
	{ 4, 0, 97, 4, UINT32_MAX - 1, CL_EFORMAT, "has the id -2" },
	{ 4, 0, 134, 1, 0x80, CL_EFORMAT, "layer 1: bits are set" },
	{ 4, 0, 133, 2, 0, CL_EFORMAT, "that is not present" },
	{ 5, 0, 0, 1, 0, CL_EFORMAT, "unknown kind of end" },
	{ 5, 0, 0, 1, 4, CL_EFORMAT, "unknown kind of end" },
	{ 5, 0, 7, 1, 1, CL_EFORMAT, "bytes that are not 0" },
	{ 5, 0, 8, 1, 1, CL_EFORMAT, "1 records announced" },
	{ 5, 0, 16, 8, 1, CL_EFORMAT, "1 sequences announced" },
	{ 5, 0, 24, 8, 41, CL_EFORMAT, "41 tokens announced, 40" },
	{ 5, 0, 32, 8, 1, CL_EFORMAT, "1 passes announced" },
	{ 5, 0, 40, 8, 1, CL_EFORMAT, "1 cells announced" },
	{ 5, 0, 48, 8, 1, CL_EFORMAT, "1 experts chosen announced" },
	{ 5, 0, 56, 8, 9999, CL_EFORMAT, "more mismatches than" },
	{ 5, 0, 64, 8, 1, CL_EFORMAT, "routing fingerprint 0000000000"
	    "000001 recorded, " },
};

static void
what_the_manual_forbids_is_refused(void)
{
	size_t i;

	for (i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
		damage(&kinds[0], &forbidden[i]);
}

/*
 * A block of one token and ids alone: 16 + 4 + 4 + 1 bytes of the token, then
 * layer 1: present at 25, explicit at 26, a count at 27, ids from 29 on.
 */
static void
bad_choices_are_refused(void)
{
	struct make m = { .seed = 5, .block_tokens = 8, .ntokens = 1 };
	struct damage d = { 4, 0, 27, 2, 0, CL_EFORMAT,
	    "layer 1: 0 experts chosen, of 8" };

	damage(&m, &d);
	d.value = 9;
	d.why = "layer 1: 9 experts chosen, of 8";
	damage(&m, &d);
	d.off = 29;
	d.nbytes = 1;
	d.value = 8;
	d.why = "layer 1: an expert above 7";
	damage(&m, &d);
	d.nbytes = 2;
	d.value = 0x0303;
	d.why = "layer 1: token 0 chose an expert twice";
	damage(&m, &d);
	d.off = 26;
	d.nbytes = 1;
	d.value = 0;
	d.why = "layer 1: a cell without the experts";
	damage(&m, &d);
	d.off = 25;
	d.value = 0;
	d.why = "layer 1: a cell that is not present";
	damage(&m, &d);
}

/* One record's length, checksum or type is not what it was. */
static void
frames_of_records_are_checked(void)
{
	struct cl_buf b, plain;
	uint8_t len, high;
	size_t at;

	cl_buf_init(&b);
	cl_buf_init(&plain);
	make_trace(&kinds[2], &b, NULL);
	unzip(&b, &plain);
	at = find_record(&plain, 4, 1);
	plain.p[at + 20] ^= 1;
	is_refused(&plain, CL_EFORMAT, "does not match its bytes (after "
	    "token 7)");
	plain.p[at + 20] ^= 1;
	plain.p[at + 2] = 1;
	is_refused(&plain, CL_EFORMAT, "no record header");
	plain.p[at + 2] = 0;
	plain.p[at + 7] = 0x11;
	is_refused(&plain, CL_EFORMAT, "at most 268435456");
	len = plain.p[at + 4];
	high = plain.p[at + 5];
	plain.p[at + 4] = plain.p[at + 5] = 0;
	plain.p[at + 7] = 0x10;		/* as many as may be, were they there */
	is_refused(&plain, CL_ECUT, "incomplete: ends after token 7");
	plain.p[at + 4] = 1;
	is_refused(&plain, CL_EFORMAT, "length 268435457, at most");
	plain.p[at + 4] = len;
	plain.p[at + 5] = high;
	plain.p[at + 7] = 0;
	plain.p[at] = 6;
	seal(plain.p + at);
	is_refused(&plain, CL_ENOTSUP, "a record of unknown type 6");
	plain.p[at] = 1;
	seal(plain.p + at);
	is_refused(&plain, CL_EFORMAT, "HEAD record: not expected here");
	plain.p[at] = 2;
	seal(plain.p + at);
	is_refused(&plain, CL_EFORMAT, "LAYER record: not expected here");
	plain.p[4] = 2;
	is_refused(&plain, CL_ENOTSUP, "version 2; this program reads "
	    "version 1");
	cl_buf_free(&b);
	cl_buf_free(&plain);
}

/* Put an empty record of a type before the nth of another. */
static void
insert(struct cl_buf *plain, uint16_t type, unsigned before, size_t nth)
{
	uint8_t record[RECORD] = { (uint8_t)type, (uint8_t)(type >> 8) };
	size_t at = find_record(plain, before, nth);
	struct cl_buf all;

	seal(record);
	cl_buf_init(&all);
	cl_buf_bytes(&all, plain->p, at);
	cl_buf_bytes(&all, record, RECORD);
	cl_buf_bytes(&all, plain->p + at, plain->n - at);
	cl_buf_free(plain);
	*plain = all;
}

static void
optional_records_are_skipped(void)
{
	struct cl_buf b, plain, again;
	struct cl_err err = { 0 };
	uint64_t tokens, traces;
	size_t at;

	cl_buf_init(&b);
	cl_buf_init(&plain);
	make_trace(&kinds[2], &b, NULL);
	unzip(&b, &plain);
	insert(&plain, 0x8777, 4, 2);
	is_refused(&plain, CL_EFORMAT, "records announced");
	insert(&plain, 0x8001, 2, 3);
	at = find_record(&plain, 5, 0);
	plain.p[at + RECORD + 8] = (uint8_t)(plain.p[at + RECORD + 8] + 2);
	seal(plain.p + at);
	cl_buf_init(&again);
	zip(plain.p, plain.n, 9999, &again);
	assert(read_all(again.p, again.n, 99, CL_TRACE_CHECK, &tokens,
	    &traces, &err) == CL_END);
	assert(tokens == kinds[2].ntokens && traces == 1);
	insert(&plain, 0x8777, 1, 0);
	is_refused(&plain, CL_ENOTSUP, "unknown type 34679");
	cl_buf_free(&again);
	cl_buf_free(&plain);
	cl_buf_free(&b);
}

static void
skimming_finds_what_framing_shows(void)
{
	struct cl_err err = { 0 };
	struct cl_buf b, plain, again;
	uint64_t tokens, traces;
	size_t at;

	cl_buf_init(&b);
	cl_buf_init(&plain);
	cl_buf_init(&again);
	make_trace(&kinds[2], &b, NULL);
	unzip(&b, &plain);
	at = find_record(&plain, 5, 0);
	plain.p[at + RECORD + 48] ^= 1;
	seal(plain.p + at);
	zip(plain.p, plain.n, 9999, &again);
	assert(read_all(again.p, again.n, 99, CL_TRACE_SKIM | CL_TRACE_CHECK,
	    &tokens, &traces, &err) == CL_EFORMAT);
	assert(strstr(err.msg, "experts chosen announced") != NULL);
	assert(tokens == kinds[2].ntokens && traces == 0);
	cl_buf_free(&again);
	cl_buf_free(&plain);
	cl_buf_free(&b);
}

static const struct unit units[] = {
	{ "a decoder written from the manual agrees",
	    a_decoder_from_scratch_agrees },
	{ "whatever the manual forbids is refused",
	    what_the_manual_forbids_is_refused },
	{ "choices that cannot be are refused", bad_choices_are_refused },
	{ "types, lengths and checksums are checked",
	    frames_of_records_are_checked },
	{ "optional records are skipped, and counted",
	    optional_records_are_skipped },
	{ "skimming finds what framing and counts show",
	    skimming_finds_what_framing_shows },
};

UNIT_MAIN(units)
