/*
 * A single budget keeps the text that it was written with, so that a sweep
 * says of it what a run of its own would; a member of a range is written as
 * people would, in the largest unit that leaves no remainder.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/budgets.h"
#include "cl/err.h"
#include "cl/vec.h"

#define ITEM_MAX	96		/* bytes of an item of a list */
#define TEXT_MAX	32		/* of what we write */

static int
refuse(const char *item, const char *why, struct cl_err *err)
{
	char vis[ITEM_MAX];

	return (cl_fail(err, CL_EINVAL, "\"%s\": %s",
	    cl_text_vis(vis, sizeof(vis), item, strlen(item)), why));
}

static int
add(struct cl_budgets *list, const struct cl_budget *b, const char *text,
    struct cl_err *err)
{
	struct cl_budgets_item *item;
	int status;

	if (list->n == CL_BUDGETS_MAX)
		return (cl_fail(err, CL_EINVAL, "more than %u budgets",
		    CL_BUDGETS_MAX));
	if ((status = cl_vec_grow(&list->item, &list->cap, list->n + 1,
	    sizeof(*list->item), err)) != CL_OK)
		return (status);
	item = &list->item[list->n];
	if ((item->text = cl_vec_strndup(text, strlen(text), err)) == NULL)
		return (CL_ENOMEM);
	item->budget = *b;
	list->n++;
	return (CL_OK);
}

/* Bytes without a remainder; powers of 1000 for who writes in them. */
static void
write_bytes(char buf[TEXT_MAX], uint64_t nbytes, bool decimal)
{
	static const char prefix[] = "KMGTPE";
	uint64_t base = decimal ? 1000 : 1024;
	size_t n = 0;

	while (n < sizeof(prefix) - 1 && nbytes > 0 && nbytes % base == 0) {
		nbytes /= base;
		n++;
	}
	if (n == 0)
		(void)snprintf(buf, TEXT_MAX, "%" PRIu64, nbytes);
	else
		(void)snprintf(buf, TEXT_MAX, "%" PRIu64 "%c%s", nbytes,
		    prefix[n - 1], decimal ? "B" : "");
}

static void
write_budget(char buf[TEXT_MAX], const struct cl_budget *b, bool decimal)
{
	uint64_t part;

	switch (b->unit) {
	case CL_BUDGET_BYTES:
		write_bytes(buf, b->amount, decimal);
		break;
	case CL_BUDGET_EXPERTS:
		(void)snprintf(buf, TEXT_MAX, "%" PRIu64 "e", b->amount);
		break;
	case CL_BUDGET_PERCENT:
		part = b->amount % 100;
		if (part == 0)
			(void)snprintf(buf, TEXT_MAX, "%" PRIu64 "%%",
			    b->amount / 100);
		else
			(void)snprintf(buf, TEXT_MAX, "%" PRIu64 ".%0*" PRIu64
			    "%%", b->amount / 100, part % 10 == 0 ? 1 : 2,
			    part % 10 == 0 ? part / 10 : part);
		break;
	}
}

/* Does a size end as powers of 1000 do: 4GB, and neither 4GiB nor 4B? */
static bool
is_decimal(const char *s)
{
	size_t n = strlen(s);

	return (n >= 2 && s[n - 1] == 'B' && s[n - 2] != 'i' &&
	    strchr("KMGTPE", s[n - 2]) != NULL);
}

static int
add_range(struct cl_budgets *list, const char *item, const char *first,
    const char *last, const char *step, struct cl_err *err)
{
	struct cl_budget at, end, by;
	char text[TEXT_MAX];
	int status;

	if ((status = cl_text_budget(first, &at, err)) != CL_OK ||
	    (status = cl_text_budget(last, &end, err)) != CL_OK ||
	    (status = cl_text_budget(step, &by, err)) != CL_OK)
		return (status);
	if (at.unit != end.unit || at.unit != by.unit)
		return (refuse(item, "a range of several units", err));
	if (at.amount > end.amount)
		return (refuse(item, "a range that ends before it begins",
		    err));
	if (by.amount == 0)
		return (refuse(item, "a range in steps of nothing", err));
	for (;;) {
		write_budget(text, &at, is_decimal(first));
		if ((status = add(list, &at, text, err)) != CL_OK)
			return (status);
		if (end.amount - at.amount < by.amount)
			return (CL_OK);
		at.amount += by.amount;
	}
}

static int
add_item(struct cl_budgets *list, const char *item, struct cl_err *err)
{
	char part[ITEM_MAX], *last, *step;
	struct cl_budget b;
	int status;

	memcpy(part, item, strlen(item) + 1);
	if ((last = strstr(part, "..")) == NULL) {
		status = cl_text_budget(item, &b, err);
		return (status == CL_OK ? add(list, &b, item, err) : status);
	}
	if ((step = strchr(last, '/')) == NULL)
		return (refuse(item, "a range needs a step (2%..60%/2%)",
		    err));
	*last = '\0';
	*step = '\0';
	return (add_range(list, item, part, last + 2, step + 1, err));
}

int
cl_budgets_add(struct cl_budgets *list, const char *text, struct cl_err *err)
{
	char item[ITEM_MAX];
	size_t n;
	int status;

	for (;;) {
		if ((n = strcspn(text, ",")) >= sizeof(item))
			return (refuse(text, "too long for a budget", err));
		memcpy(item, text, n);
		item[n] = '\0';
		if ((status = add_item(list, item, err)) != CL_OK)
			return (status);
		if (text[n] == '\0')
			return (CL_OK);
		text += n + 1;
	}
}

void
cl_budgets_free(struct cl_budgets *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		free(list->item[i].text);
	free(list->item);
}
