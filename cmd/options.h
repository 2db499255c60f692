#ifndef OPTIONS_H
#define OPTIONS_H

/*
 * The options of a command as a table: how each is spelled, what it takes,
 * where that goes, and which of the things the command can do it means
 * something to.  Speaks through fe.h, and dies of misuse there.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum options_argument {
	OPTIONS_NONE,
	OPTIONS_WANTED,
	OPTIONS_ALLOWED,		/* behind "=" */
	OPTIONS_BEHIND			/* or as the next word, if it is one
					   of names */
};

struct options_row {
	const char	*name;		/* long; NULL: only a letter */
	char		 letter;	/* 0: only a name */
	unsigned	 modes;		/* bits of the command; 0: to all */
	enum options_argument argument;
	/* Takes it into the command's options; arg is NULL if there is none. */
	void		(*take)(const struct options_row *, void *options,
			    const char *arg);
	/* For those below: */
	size_t		 at;		/* of the member it goes to */
	size_t		 said;		/* of a bool that it was; 0: none */
	uint64_t	 lo;
	uint64_t	 hi;
	const char *const *names;	/* ended by NULL */
};

/*
 * What a row may have behind its modes: a member of a struct, by its type.  The
 * compiler complains of a member of another type: what is multiplied by 0
 * compares pointers of the two.
 */
#define OPTIONS_AT(s, member, type) (offsetof(s, member) + \
	0 * sizeof((type *)0 == &((s *)0)->member))
#define OPTIONS_FLAG(s, member) .take = options_flag, \
	.at = OPTIONS_AT(s, member, bool)
#define OPTIONS_TEXT(s, member) .take = options_text, \
	.argument = OPTIONS_WANTED, .at = OPTIONS_AT(s, member, const char *)
#define OPTIONS_U32(s, member, least, most) .take = options_u32, \
	.argument = OPTIONS_WANTED, .at = OPTIONS_AT(s, member, uint32_t), \
	.lo = (least), .hi = (most)
#define OPTIONS_U64(s, member, least, most) .take = options_u64, \
	.argument = OPTIONS_WANTED, .at = OPTIONS_AT(s, member, uint64_t), \
	.lo = (least), .hi = (most)
/*
 * An enum, whose numbers are places in the list, or an unsigned: gcc and clang
 * make an enum without negative numbers an unsigned, which is what is stored.
 */
#define OPTIONS_CHOICE(s, member, list) .take = options_choice, \
	.argument = OPTIONS_WANTED, .at = offsetof(s, member) + \
	0 * sizeof(char[sizeof(((s *)0)->member) == sizeof(unsigned) ? \
	1 : -1]), \
	.names = (list)
/* What a verb of the command's own takes. */
#define OPTIONS_CALL(verb) .argument = OPTIONS_WANTED, .take = verb
#define OPTIONS_HELP	{ "help", 'h', .take = options_help }
#define OPTIONS_VERSION	{ "version", 'V', .take = options_version }

void	options_flag(const struct options_row *, void *, const char *);
void	options_text(const struct options_row *, void *, const char *);
void	options_u32(const struct options_row *, void *, const char *);
void	options_u64(const struct options_row *, void *, const char *);
void	options_choice(const struct options_row *, void *, const char *);
void	options_help(const struct options_row *, void *, const char *);
void	options_version(const struct options_row *, void *, const char *);

/*
 * Take the command line by a table of n rows, in its order, and note which of
 * them were given.  Returns where the operands begin.
 */
int	options_take(const struct options_row *, size_t n, bool *given,
	    void *options, int argc, char **argv);

/* Die of an option that was given and means nothing to this mode, so named. */
void	options_check(const struct options_row *, size_t n, const bool *given,
	    unsigned mode, const char *name);

#endif /* OPTIONS_H */
