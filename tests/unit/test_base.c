/*
 * base/: arithmetic, text, hashes, cursor and buffer, against values known
 * from elsewhere.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cl/budgets.h"
#include "cl/buf.h"
#include "cl/crc.h"
#include "cl/cur.h"
#include "cl/err.h"
#include "cl/hash.h"
#include "cl/num.h"
#include "cl/order.h"
#include "cl/rng.h"
#include "cl/text.h"
#include "cl/vec.h"
#include "unit.h"

static uint64_t
hash_of(const char *s)
{
	struct cl_hash h;

	cl_hash_init(&h);
	for (; *s != '\0'; s++)		/* a byte at a time: streaming counts */
		cl_hash_add(&h, s, 1);
	return (cl_hash_end(&h));
}

static void
hash_is_xxh64(void)
{

	/* From xxHash's own sanity checks and `xxhsum -H64`. */
	assert(hash_of("") == UINT64_C(0xef46db3751d8e999));
	assert(hash_of("a") == UINT64_C(0xd24ec4f1a98c6e5b));
	assert(hash_of("abc") == UINT64_C(0x44bc2cf5ad770999));
	assert(hash_of("Nobody inspects the spammish repetition") ==
	    UINT64_C(0xfbcea83c8a378bf1));
}

static void
crc_is_crc32c(void)
{
	uint8_t b[32];
	uint32_t c;
	int i, j, k;

	assert(cl_crc_add(0, "123456789", 9) == 0xe3069283u);
	memset(b, 0, sizeof(b));
	assert(cl_crc_add(0, b, sizeof(b)) == 0x8a9136aau); /* RFC 3720 B.4 */
	for (i = 0; i < 256; i++)
		for (j = 0; j < 8; j++) {	/* the tables, bit by bit */
			memset(b, 0, 9);
			b[7 - j] = (uint8_t)i;
			c = 0xffffffffu;
			for (k = 0; k < 64; k++) {
				c ^= (uint32_t)(b[k / 8] >> k % 8 & 1);
				c = c >> 1 ^ (0x82f63b78u & (0 - (c & 1)));
			}
			assert(cl_crc_add(0, b, 8) == ~c);
		}
	assert(cl_crc_add(cl_crc_add(0, "1234", 4), "56789", 5) ==
	    0xe3069283u);
}

static void
wraps_are_found(void)
{
	uint64_t v;

	assert(cl_add(UINT64_MAX, 0, &v) && v == UINT64_MAX);
	assert(!cl_add(UINT64_MAX, 1, &v));
	assert(cl_mul(UINT64_C(1) << 32, UINT64_C(1) << 31, &v));
	assert(!cl_mul(UINT64_C(1) << 42, UINT64_C(1) << 22, &v));
	assert(cl_mul(0, UINT64_MAX, &v) && v == 0);
	assert(cl_muldiv(UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	assert(cl_muldiv(10, 10, 3) == 33);
	assert(cl_muldiv(UINT64_C(1) << 63, 6, 4) == UINT64_C(3) << 62);
}

static bool
size_is(const char *s, uint64_t want)
{
	struct cl_err err = { 0 };
	uint64_t v;

	return (cl_text_size(s, &v, &err) == CL_OK && v == want);
}

static bool
size_refused(const char *s)
{
	struct cl_err err = { 0 };
	uint64_t v;

	return (cl_text_size(s, &v, &err) == CL_EINVAL && err.msg[0] == '"');
}

static void
sizes_mean_what_the_manual_says(void)
{

	assert(size_is("0", 0) && size_is("64", 64) && size_is("64B", 64));
	assert(size_is("4G", UINT64_C(4) << 30));
	assert(size_is("4g", UINT64_C(4) << 30));
	assert(size_is("4GiB", UINT64_C(4) << 30));
	assert(size_is("4GB", UINT64_C(4000000000)));
	assert(size_is("4.5G", UINT64_C(9) << 29));
	assert(size_is("1.5KB", 1500) && size_is("0.1K", 102));
	assert(size_is("15E", UINT64_C(15) << 60));
	assert(size_refused("16E") && size_refused("18446744073709551616"));
	assert(size_refused("") && size_refused("4 G") && size_refused("-1G"));
	assert(size_refused("4Gx") && size_refused("4gB2") &&
	    size_refused("+4"));
	assert(size_refused("4.G") && size_refused("1.5") &&
	    size_refused("0x10") && size_refused("4iB"));
}

static bool
ns_is(const char *s, uint64_t want)
{
	struct cl_err err = { 0 };
	uint64_t v;

	return (cl_text_ns(s, &v, &err) == CL_OK && v == want);
}

static bool
ns_refused(const char *s)
{
	struct cl_err err = { 0 };
	uint64_t v;

	return (cl_text_ns(s, &v, &err) == CL_EINVAL && err.msg[0] == '"');
}

static void
times_have_a_unit(void)
{

	assert(ns_is("0ns", 0) && ns_is("7ns", 7) && ns_is("80us", 80000));
	assert(ns_is("1.2ms", 1200000) && ns_is("0.0000000019s", 1));
	assert(ns_is("18446744073709551615ns", UINT64_MAX));
	assert(ns_refused("18446744073709551616ns"));
	assert(ns_is("18446744073s", UINT64_C(18446744073000000000)));
	assert(ns_refused("18446744074s") && ns_refused("18446744073.8s"));
	assert(ns_refused("") && ns_refused("80") && ns_refused("80 us"));
	assert(ns_refused("-1us") && ns_refused("1.5ns") && ns_refused("1m"));
	assert(ns_refused("us") && ns_refused("1.us") && ns_refused("1uss"));
}

static void
budgets_have_three_units(void)
{
	struct cl_err err = { 0 };
	struct cl_budget b;

	assert(cl_text_budget("25%", &b, &err) == CL_OK);
	assert(b.unit == CL_BUDGET_PERCENT && b.amount == 2500);
	assert(cl_text_budget("0.05%", &b, &err) == CL_OK && b.amount == 5);
	assert(cl_text_budget("64e", &b, &err) == CL_OK);
	assert(b.unit == CL_BUDGET_EXPERTS && b.amount == 64);
	assert(cl_text_budget("64E", &b, &err) == CL_EINVAL); /* 2^66 bytes */
	memset(&err, 0, sizeof(err));
	assert(cl_text_budget("101%", &b, &err) == CL_EINVAL);
	assert(strstr(err.msg, "100%") != NULL);
	memset(&err, 0, sizeof(err));
	assert(cl_text_budget("1.234%", &b, &err) == CL_EINVAL);
	memset(&err, 0, sizeof(err));
	assert(cl_text_budget("1.0000000001%", &b, &err) == CL_EINVAL);
	memset(&err, 0, sizeof(err));
	assert(cl_text_budget("64", &b, &err) == CL_OK);
	assert(b.unit == CL_BUDGET_BYTES && b.amount == 64);
}

/* What a list of budgets says, its texts parted by blanks. */
static const char *
budget_list(const char *list, char *buf, size_t cap)
{
	struct cl_budgets b = { 0 };
	struct cl_budget again;
	struct cl_err err = { 0 };
	size_t i, at = 0;

	if (cl_budgets_add(&b, list, &err) != CL_OK) {
		(void)snprintf(buf, cap, "%.300s", err.msg);
		cl_budgets_free(&b);
		return (buf);
	}
	for (i = 0; i < b.n; i++) {
		assert(cl_text_budget(b.item[i].text, &again, NULL) == CL_OK);
		assert(again.unit == b.item[i].budget.unit);
		assert(again.amount == b.item[i].budget.amount);
		at += (size_t)snprintf(buf + at, cap - at, "%s%s",
		    i == 0 ? "" : " ", b.item[i].text);
		assert(at < cap);
	}
	cl_budgets_free(&b);
	return (buf);
}

static void
lists_of_budgets_have_ranges(void)
{
	static const struct {
		const char *list;
		const char *says;
	} t[] = {
		{ "5%", "5%" },
		{ "05.0%,4096M,4G", "05.0% 4096M 4G" },	/* as written */
		{ "2%..6%/2%", "2% 4% 6%" },
		{ "2%..7%/2%,64e", "2% 4% 6% 64e" },
		{ "0.5%..1%/0.25%", "0.5% 0.75% 1%" },
		{ "9.95%..10.05%/0.05%", "9.95% 10% 10.05%" },
		{ "64e..64e/1e", "64e" },
		{ "8e..20e/5e", "8e 13e 18e" },
		{ "512M..2G/512M", "512M 1G 1536M 2G" },
		{ "1GB..3GB/500MB", "1GB 1500MB 2GB 2500MB 3GB" },
		{ "1KiB..2KiB/512", "1K 1536 2K" },
		{ "18446744073709551614..18446744073709551615/1",
		    "18446744073709551614 18446744073709551615" },
		{ "2%..6%", "\"2%..6%\": a range needs a step "
		    "(2%..60%/2%)" },
		{ "2%..6e/2%", "\"2%..6e/2%\": a range of several units" },
		{ "6%..2%/1%", "\"6%..2%/1%\": a range that ends before it "
		    "begins" },
		{ "1%..2%/0%", "\"1%..2%/0%\": a range in steps of nothing" },
		{ "0e..99999e/1e", "more than 16384 budgets" },
	};
	char buf[512];
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (strcmp(budget_list(t[i].list, buf, sizeof(buf)),
		    t[i].says) != 0) {
			fprintf(stderr, "# %s: %s\n", t[i].list, buf);
			assert(0);
		}
	assert(strstr(budget_list("5%,", buf, sizeof(buf)), "not a size"));
	assert(strstr(budget_list("", buf, sizeof(buf)), "not a size"));
	assert(strstr(budget_list("1%...3%/1%", buf, sizeof(buf)), "not a"));
	assert(strstr(budget_list("1%..3%/", buf, sizeof(buf)), "not a size"));
}

static void
numbers_are_whole_strings_in_range(void)
{
	struct cl_err err = { 0 };
	uint64_t v;
	double d;

	assert(cl_text_u64("18446744073709551615", 0, UINT64_MAX, &v, &err) ==
	    CL_OK && v == UINT64_MAX);
	assert(cl_text_u64("7", 1, 16, &v, &err) == CL_OK && v == 7);
	assert(cl_text_u64("17", 1, 16, &v, NULL) == CL_EINVAL);
	assert(cl_text_u64("0", 1, 16, &v, NULL) == CL_EINVAL);
	assert(cl_text_u64("1 ", 0, 16, &v, NULL) == CL_EINVAL);
	assert(cl_text_u64("", 0, 16, &v, NULL) == CL_EINVAL);
	assert(cl_text_f64("0.5", 0, 1, &d, &err) == CL_OK && d == 0.5);
	assert(cl_text_f64("-.5", -1, 1, &d, &err) == CL_OK && d == -0.5);
	assert(cl_text_f64("nan", 0, 1, &d, NULL) == CL_EINVAL);
	assert(cl_text_f64("1e9", 0, 1e10, &d, NULL) == CL_EINVAL);
	assert(cl_text_f64("0,5", 0, 1, &d, NULL) == CL_EINVAL);
}

static void
printing_is_exact_or_says_its_unit(void)
{
	char b[CL_TEXT_SIZE_MAX], t[32];
	float f;
	int i;
	uint64_t s = 1;
	uint32_t u;

	assert(strcmp(cl_text_bytes(b, 1023), "1023 B") == 0);
	assert(strcmp(cl_text_bytes(b, 1024), "1.00 KiB") == 0);
	assert(strcmp(cl_text_bytes(b, 3 << 19), "1.50 MiB") == 0);
	assert(strcmp(cl_text_bytes(b, UINT64_MAX), "16.0 EiB") == 0);
	assert(strcmp(cl_text_count(t, 0), "0") == 0);
	assert(strcmp(cl_text_count(t, 999), "999") == 0);
	assert(strcmp(cl_text_count(t, 1234567), "1,234,567") == 0);
	assert(strcmp(cl_text_f32(t, 0.1f), "0.1") == 0);
	for (i = 0; i < 10000; i++) {
		u = (uint32_t)cl_rng_next(&s);
		memcpy(&f, &u, sizeof(f));
		if (isfinite(f))
			assert(strtof(cl_text_f32(t, f), NULL) == f);
	}
}

static void
control_bytes_never_reach_a_terminal(void)
{
	static const char bad[] = "a\033[2J\n\xff\xc3\xa9\xc2\x9b\xed\xa0\x80";
	char v[64], small[4];

	cl_text_vis(v, sizeof(v), bad, sizeof(bad) - 1);
	assert(strcmp(v, "a?[2J??\xc3\xa9????") == 0);
	cl_text_vis(small, sizeof(small), "abcdef", 6);
	assert(strcmp(small, "abc") == 0);
}

static void
text_between_tabs_is_escaped(void)
{
	static const char bad[] = "a\t\n\r\\\x1b\x7f\xc2\x85\xc3\xa9"
	    "\xf0\x9f\0z";
	char buf[8], all[80];
	size_t i, len = 0, n = sizeof(bad) - 1;

	for (i = 0; i < n; len += strlen(buf)) {
		i += cl_text_escape(buf, bad + i, n - i);
		memcpy(all + len, buf, strlen(buf) + 1);
	}
	assert(i == n);
	assert(strcmp(all, "a\\t\\n\\r\\\\\\x1b\\x7f\\xc2\\x85\xc3\xa9"
	    "\\xf0\\x9f\\x00z") == 0);
}

static void
a_cursor_never_reads_past_its_end(void)
{
	static const uint8_t b[] = { 1, 2, 3, 4, 5, 3, 0, 'a', 'b', 0 };
	struct cl_cur c;
	const char *s;

	cl_cur_init(&c, b, sizeof(b));
	assert(cl_cur_u32(&c) == 0x04030201 && cl_cur_u8(&c) == 5);
	assert(cl_cur_str(&c, &s) == 0 && !cl_cur_ok(&c));	/* holds NUL */
	cl_cur_init(&c, b, 3);
	assert(cl_cur_u32(&c) == 0 && !cl_cur_ok(&c));
	assert(cl_cur_u8(&c) == 0);				/* for good */
	cl_cur_init(&c, b, sizeof(b));
	assert(cl_cur_bytes(&c, UINT64_MAX) == NULL && !cl_cur_ok(&c));
}

static void
a_buffer_is_read_back_by_a_cursor(void)
{
	struct cl_buf b;
	struct cl_cur c;
	const char *s;

	cl_buf_init(&b);
	cl_buf_u8(&b, 7);
	cl_buf_u16(&b, 0xbeef);
	cl_buf_u32(&b, 0xdeadbeef);
	cl_buf_u64(&b, UINT64_MAX - 1);
	cl_buf_f32(&b, 1.5f);
	cl_buf_f64(&b, -2.25);
	cl_buf_str(&b, "expert");
	cl_cur_init(&c, b.p, b.n);
	assert(cl_cur_u8(&c) == 7 && cl_cur_u16(&c) == 0xbeef);
	assert(cl_cur_u32(&c) == 0xdeadbeef);
	assert(cl_cur_u64(&c) == UINT64_MAX - 1);
	assert(cl_cur_f32(&c) == 1.5f && cl_cur_f64(&c) == -2.25);
	assert(cl_cur_str(&c, &s) == 6 && memcmp(s, "expert", 6) == 0);
	assert(cl_cur_ok(&c) && cl_cur_left(&c) == 0);
	cl_buf_free(&b);
}

static void
the_first_error_wins(void)
{
	struct cl_err err = { 0 };

	assert(cl_fail(&err, CL_EFORMAT, "tensor %d", 3) == CL_EFORMAT);
	assert(cl_fail(&err, CL_EIO, "later") == CL_EFORMAT);
	cl_err_prefix(&err, "m.gguf");
	assert(strcmp(err.msg, "m.gguf: tensor 3") == 0);
	assert(cl_fail(NULL, CL_ENOMEM, "nobody listens") == CL_ENOMEM);
}

static void
arrays_grow_and_stay_zeroed(void)
{
	int *p = NULL, i;
	size_t cap = 0;

	assert(cl_vec_grow(&p, &cap, 3, sizeof(*p), NULL) == CL_OK);
	assert(cap >= 3 && p[2] == 0);
	p[2] = 9;
	assert(cl_vec_grow(&p, &cap, 1000, sizeof(*p), NULL) == CL_OK);
	for (i = 3; i < 1000; i++)
		assert(p[i] == 0);
	assert(p[2] == 9);
	assert(cl_vec_grow(&p, &cap, SIZE_MAX, sizeof(*p), NULL) ==
	    CL_ENOMEM);
	assert(p[2] == 9);
	free(p);
}

static void
splitmix_is_splitmix(void)
{
	uint64_t s = 1234567, n = 0;
	int i;

	/* The reference sequence published with the algorithm. */
	assert(cl_rng_next(&s) == UINT64_C(6457827717110365317));
	assert(cl_rng_next(&s) == UINT64_C(3203168211198807973));
	assert(cl_rng_next(&s) == UINT64_C(9817491932198370423));
	for (i = 0; i < 1000; i++)
		n |= UINT64_C(1) << cl_rng_below(&s, 7);
	assert(n == 127);
}

static void
ranks_are_places_of_the_sorted(void)
{
	uint32_t number[CL_ORDER_FEW], rank[CL_ORDER_FEW], n, i, j;

	for (n = 0; n <= CL_ORDER_FEW; n++) {
		for (i = 0; i < n; i++)		/* all of them differ */
			number[i] = UINT32_MAX - i * 5 % 37;
		cl_order_ranks(number, n, rank);
		for (i = 0; i < n; i++)
			for (j = 0; j < n; j++)
				assert((rank[i] < rank[j]) ==
				    (number[i] < number[j]) && rank[i] < n);
	}
}

static const struct unit units[] = {
	{ "fingerprints are XXH64", hash_is_xxh64 },
	{ "record checksums are CRC-32C", crc_is_crc32c },
	{ "a product or sum that wraps is found", wraps_are_found },
	{ "sizes mean what the manual says", sizes_mean_what_the_manual_says },
	{ "a time is a number with its unit", times_have_a_unit },
	{ "a budget is bytes, a percentage or experts",
	    budgets_have_three_units },
	{ "a list of budgets may have ranges, and says what it means",
	    lists_of_budgets_have_ranges },
	{ "a number is the whole string and in range",
	    numbers_are_whole_strings_in_range },
	{ "printing is exact or says its unit",
	    printing_is_exact_or_says_its_unit },
	{ "control bytes never reach a terminal",
	    control_bytes_never_reach_a_terminal },
	{ "text between tabs is escaped", text_between_tabs_is_escaped },
	{ "a cursor never reads past its end",
	    a_cursor_never_reads_past_its_end },
	{ "what a buffer builds a cursor reads",
	    a_buffer_is_read_back_by_a_cursor },
	{ "the first error recorded wins", the_first_error_wins },
	{ "arrays grow and what is new is zero", arrays_grow_and_stay_zeroed },
	{ "the generator is splitmix64", splitmix_is_splitmix },
	{ "ranks of a few numbers are their places, were they sorted",
	    ranks_are_places_of_the_sorted },
};

UNIT_MAIN(units)
