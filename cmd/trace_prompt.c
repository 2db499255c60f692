/*
 * Prompts out of files, and one for those who give none: a page of prose, a
 * manual's plain words and code, so that a router sees more than one kind of
 * text.  Written for this purpose.  Changing it changes what a default
 * recording means.
 */

#include <string.h>

#include "cl/err.h"
#include "cl/src.h"
#include "cl/vec.h"
#include "fe.h"
#include "trace.h"

#define PROMPT_MAX	(64u << 20)	/* no context takes more */

const char trace_prompt_builtin[] =
"The library at the end of the street had been closed for eleven years when\n"
"the old caretaker found the door open one morning. Nothing was missing. The\n"
"shelves stood as they had always stood, the lamps were cold, and the dust on\n"
"the long reading table was unbroken but for one line, as straight as a rule,\n"
"drawn from one end to the other. He followed it with his eyes and then with\n"
"his finger, and at the end of it he found a card from the catalogue, with a\n"
"number on it and no title. There is a reason for every number, he said to\n"
"himself, and went to look for the book.\n"
"\n"
"A cache keeps what was used so that it can be used again. When it is full,\n"
"something has to leave, and which thing leaves is the policy of the cache.\n"
"The least recently used entry is a common choice. It is a good one where the\n"
"near past is like the near future, and a bad one where work goes round in\n"
"circles that are larger than the cache: then each entry leaves just before\n"
"it is wanted.\n"
"\n"
"    struct entry {\n"
"            struct entry *next;\n"
"            unsigned key;\n"
"            int value;\n"
"    };\n"
"\n"
"    static struct entry *\n"
"    find(struct entry *list, unsigned key)\n"
"    {\n"
"            struct entry *e;\n"
"\n"
"            for (e = list; e != NULL; e = e->next)\n"
"                    if (e->key == key)\n"
"                            return (e);\n"
"            return (NULL);\n"
"    }\n"
"\n"
"My friends, we have come through a hard winter. The river took the bridge,\n"
"and we built it again; the frost took the orchard, and we planted it again.\n"
"I ask you now for one thing more: that we keep the accounts of this town so\n"
"that any man or woman may read them.\n"
"\n"
"    def count_words(path):\n"
"        counts = {}\n"
"        with open(path) as f:\n"
"            for line in f:\n"
"                for word in line.split():\n"
"                    counts[word] = counts.get(word, 0) + 1\n"
"        return sorted(counts.items(), key=lambda item: -item[1])\n"
"\n"
"The book was where the number said it would be. It was a book of tides, and\n"
"the page that the card had marked was for a day that had not come yet.\n";

void
trace_read_prompt(struct trace_prompt *p)
{
	struct cl_err err = { 0 };
	struct cl_src *src = fe_input(p->path);
	const char *slash = strrchr(p->path, '/');
	const uint8_t *bytes;

	if (cl_src_peek(src, PROMPT_MAX, &bytes, &p->nbytes, &err) != CL_OK)
		fe_die(&err);
	if (p->nbytes == PROMPT_MAX)
		fe_misuse("%s: a prompt of %u bytes or more", p->path,
		    PROMPT_MAX);
	p->text = cl_vec_strndup((const char *)bytes, p->nbytes, &err);
	if (p->text == NULL)
		fe_die(&err);
	p->name = slash == NULL ? p->path : slash + 1;
	cl_src_close(src);
}
