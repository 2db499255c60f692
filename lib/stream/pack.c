/*
 * Members of an archive through libarchive, held to more than it asks for.
 *
 * A tar is read from the source, front to end, whatever it comes from.  Zstd
 * is decoded here, since libarchive keeps back what it has decoded where an
 * archive is cut behind it.  A zip or a 7z has its directory at its end: it is
 * read from the source's descriptor, which must be a file.  Every member's data
 * are read to their end, wanted or not, since that is where checksums and cuts
 * show.  libarchive calls back for its input in small pieces; that is where an
 * input that expands without measure is stopped, even inside one of its own
 * loops.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "cl/err.h"
#include "cl/hash.h"
#include "cl/pack.h"
#include "cl/src.h"
#include "cl/text.h"
#include "cl/vec.h"
#include "cl/zio.h"
#include "pack_int.h"

#define PIECE		(64u << 10)	/* of input; a bomb of zstd: 2 GiB */
#define END_MARK	512		/* the least of it, a block of zeros */

struct cl_pack {
	struct cl_src	*raw;		/* as given; closed with src */
	struct cl_src	*src;		/* a tar, or raw */
	struct archive	*a;
	struct archive_entry *entry;	/* of the member at hand */
	struct cl_err	 err;		/* the first failure */
	enum pack_kind	 kind;
	size_t		 owed;		/* bytes of src that were handed out */
	uint64_t	 in;		/* bytes read of the file */
	uint64_t	 out;		/* bytes of data that came of them */

	/* zip and 7z: the file */
	int		 fd;
	off_t		 base;		/* where in it the archive begins */
	off_t		 nbytes;
	off_t		 pos;
	uint8_t		*piece;

	/* the member at hand */
	struct cl_pack_member member;
	char		*name;
	char		 shown[300];	/* the same for a message: one line */
	const uint8_t	*data;		/* what libarchive gave last */
	size_t		 ndata;
	uint64_t	 given;
	bool		 taken;		/* cl_pack_read was called */
	bool		 spent;		/* no data are left */

	/* names so far, as hashes: a table with room, 0 for a free place */
	uint64_t	*names;
	size_t		 room;
	size_t		 nnames;
};

static const char *
name_of(const struct cl_pack *p)
{

	return (cl_src_name(p->src));
}

/* Tell the caller of the failure that is kept. */
static int
failed(const struct cl_pack *p, struct cl_err *err)
{

	return (cl_fail(err, p->err.code, "%s", p->err.msg));
}

/* libarchive would not go on: why, unless one of ours told it to stop. */
static int
refused(struct cl_pack *p)
{
	const char *why = archive_error_string(p->a);
	bool inside = p->member.name != NULL;

	return (cl_fail(&p->err, CL_EFORMAT, "%s%s%s: %s", name_of(p),
	    inside ? ":" : "", inside ? p->shown : "", why == NULL ?
	    "a damaged archive" : why));
}

/* Has more come out than traces and their kin can hold? */
static bool
expands(struct cl_pack *p)
{
	int64_t n = archive_filter_bytes(p->a, 0);
	uint64_t out = p->out, in = p->in;

	if (p->piece == NULL) {
		out = n > 0 ? (uint64_t)n : 0;
		in = cl_src_off(p->raw);
	}
	if (out <= CL_PACK_EXPAND_FREE || out / CL_PACK_EXPAND_MAX <= in)
		return (false);
	cl_fail(&p->err, CL_ENOTSUP, "%s: %llu bytes of it expand to over "
	    "%llu; at most %u times as many are read", name_of(p),
	    (unsigned long long)in, (unsigned long long)out,
	    CL_PACK_EXPAND_MAX);
	return (true);
}

static la_ssize_t
give_stream(struct archive *a, void *arg, const void **buf)
{
	struct cl_pack *p = arg;
	const uint8_t *bytes;
	size_t n;

	(void)a;
	cl_src_consume(p->src, p->owed);
	p->owed = 0;
	if (expands(p) || cl_src_peek(p->src, 1, &bytes, &n, &p->err) != CL_OK)
		return (ARCHIVE_FATAL);
	p->owed = n < PIECE ? n : PIECE;
	*buf = bytes;
	return ((la_ssize_t)p->owed);
}

static la_ssize_t
give_file(struct archive *a, void *arg, const void **buf)
{
	struct cl_pack *p = arg;
	ssize_t n;

	(void)a;
	do
		n = pread(p->fd, p->piece, PIECE, p->base + p->pos);
	while (n == -1 && errno == EINTR);
	if (n == -1) {
		cl_fail_errno(&p->err, "%s: cannot read", name_of(p));
		return (ARCHIVE_FATAL);
	}
	p->pos += n;
	p->in += (uint64_t)n;
	*buf = p->piece;
	return (n);
}

static la_int64_t
seek_file(struct archive *a, void *arg, la_int64_t off, int whence)
{
	struct cl_pack *p = arg;
	off_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? p->pos :
	    p->nbytes;

	(void)a;
	if (off < -from || off > p->nbytes - from)
		return (ARCHIVE_FATAL);
	p->pos = from + off;
	return (p->pos);
}

/* The file that a zip or 7z is in, from where its first bytes stand. */
static int
use_file(struct cl_pack *p, size_t nahead, struct cl_err *err)
{
	struct stat st;
	off_t at;

	p->fd = cl_src_descriptor(p->src);
	if (p->fd == -1 || fstat(p->fd, &st) == -1 || !S_ISREG(st.st_mode) ||
	    (at = lseek(p->fd, 0, SEEK_CUR)) == -1 || at < (off_t)nahead)
		return (cl_fail(err, CL_ENOTSUP, "%s: %s needs a file, not a "
		    "pipe: its directory is at its end", name_of(p),
		    p->kind == PACK_ZIP ? "zip" : "7z"));
	if ((p->piece = malloc(PIECE)) == NULL)
		return (cl_fail_nomem(err, "an archive"));
	p->base = at - (off_t)nahead;
	p->nbytes = st.st_size - p->base;
	(void)archive_read_set_seek_callback(p->a, seek_file);
	(void)archive_read_set_read_callback(p->a, give_file);
	return (CL_OK);
}

/* Only what is meant to be read: libarchive knows far more. */
static int
choose_formats(struct cl_pack *p)
{
	struct archive *a = p->a;

	if (p->kind == PACK_ZIP)
		return (archive_read_support_format_zip_seekable(a));
	if (p->kind == PACK_7Z)
		return (archive_read_support_format_7zip(a));
	(void)archive_read_set_read_callback(a, give_stream);
	/* ARCHIVE_WARN: a program would be run, where a library is missing */
	if (p->kind == PACK_TAR &&
	    (archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
	    archive_read_support_filter_bzip2(a) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(a) != ARCHIVE_OK))
		return (ARCHIVE_FATAL);
	if (archive_read_support_format_tar(a) != ARCHIVE_OK)
		return (ARCHIVE_FATAL);
	/* not to stop at the end mark, but where the input does */
	return (archive_read_set_format_option(a, "tar",
	    "read_concatenated_archives", "1"));
}

static int
start(struct cl_pack *p, size_t nahead, struct cl_err *err)
{
	int status;

	if ((p->kind == PACK_ZIP || p->kind == PACK_7Z) &&
	    (status = use_file(p, nahead, err)) != CL_OK)
		return (status);
	if (choose_formats(p) != ARCHIVE_OK)
		return (cl_fail(err, CL_ENOTSUP, "this libarchive (%s) does "
		    "not read tar, zip, 7z, gzip, bzip2 and xz",
		    archive_version_string()));
	(void)archive_read_set_callback_data(p->a, p);
	if (archive_read_open1(p->a) != ARCHIVE_OK) {
		(void)refused(p);
		return (failed(p, err));
	}
	/* the bottom of the stack is one of them */
	if (archive_filter_count(p->a) > 2)
		return (cl_fail(err, CL_ENOTSUP, "%s: compressed more than "
		    "once", name_of(p)));
	return (CL_OK);
}

struct cl_pack *
cl_pack_open(struct cl_src *src, struct cl_err *err)
{
	struct cl_pack *p;
	size_t nahead;
	int kind;

	if ((p = calloc(1, sizeof(*p))) == NULL) {
		cl_fail_nomem(err, "an archive");
		cl_src_close(src);
		return (NULL);
	}
	p->src = p->raw = src;
	p->fd = -1;
	p->spent = true;
	if ((kind = cl_pack_sniff(src, &nahead, err)) < 0)
		goto close;
	if (kind == PACK_NONE) {
		cl_fail(err, CL_EFORMAT, "%s: not an archive",
		    cl_src_name(src));
		goto close;
	}
	p->kind = (enum pack_kind)kind;
	if (p->kind == PACK_ZSTD &&
	    (p->src = cl_zio_reader(src, err)) == NULL)
		goto close;
	if ((p->a = archive_read_new()) == NULL) {
		cl_fail_nomem(err, "an archive");
		goto close;
	}
	if (start(p, nahead, err) != CL_OK)
		goto close;
	return (p);

close:
	cl_pack_close(p);
	return (NULL);
}

/* The next piece of the member's data; CL_END where they end as they should. */
static int
more(struct cl_pack *p)
{
	la_int64_t off = 0;
	const void *data;
	int r;

	do {
		r = archive_read_data_block(p->a, &data, &p->ndata, &off);
		if (r == ARCHIVE_EOF)
			break;
		if (r != ARCHIVE_OK)
			return (refused(p));
		if (p->ndata > 0 && (off < 0 || (uint64_t)off != p->given))
			return (cl_fail(&p->err, CL_ENOTSUP, "%s:%s: a sparse "
			    "member", name_of(p), p->shown));
		p->given += p->ndata;
		p->out += p->ndata;
		if (p->given > p->member.nbytes)
			break;
		if (expands(p))
			return (p->err.code);
	} while (p->ndata == 0);
	p->data = data;
	if (r == ARCHIVE_OK && p->given <= p->member.nbytes)
		return (CL_OK);
	p->ndata = 0;
	if (p->member.nbytes != CL_PACK_UNSIZED &&
	    p->given != p->member.nbytes)
		return (cl_fail(&p->err, CL_EFORMAT, "%s:%s: %llu bytes and "
		    "more of %llu", name_of(p), p->shown,
		    (unsigned long long)p->given,
		    (unsigned long long)p->member.nbytes));
	return (CL_END);
}

/* Is the name new?  Then it is so no longer. */
static bool
enter(struct cl_pack *p, uint64_t name)
{
	size_t i;

	for (i = name & (p->room - 1); p->names[i] != 0;
	    i = (i + 1) & (p->room - 1))
		if (p->names[i] == name)
			return (false);
	p->names[i] = name;
	p->nnames++;
	return (true);
}

/* Twice the room for names, those so far in their new places. */
static int
widen(struct cl_pack *p)
{
	uint64_t *old = p->names;
	size_t i, n = p->room;

	p->room = n == 0 ? 256 : 2 * n;
	if ((p->names = calloc(p->room, sizeof(*p->names))) == NULL) {
		p->names = old;
		return (cl_fail_nomem(&p->err, "the names of an archive"));
	}
	p->nnames = 0;
	for (i = 0; i < n; i++)
		if (old[i] != 0)
			(void)enter(p, old[i]);
	free(old);
	return (CL_OK);
}

/* Two members of a name would be two traces told apart by nobody. */
static int
check_twin(struct cl_pack *p)
{
	struct cl_hash h;
	uint64_t name;

	if (p->nnames == CL_PACK_MEMBERS_MAX)
		return (cl_fail(&p->err, CL_ENOTSUP, "%s: more than %u "
		    "members", name_of(p), CL_PACK_MEMBERS_MAX));
	if (2 * p->nnames >= p->room && widen(p) != CL_OK)
		return (p->err.code);
	cl_hash_init(&h);
	cl_hash_add_str(&h, p->name);
	name = cl_hash_end(&h);
	if (!enter(p, name == 0 ? 1 : name))
		return (cl_fail(&p->err, CL_EFORMAT, "%s:%s: a second member "
		    "of that name", name_of(p), p->shown));
	return (CL_OK);
}

static const char *
other_kind(struct archive_entry *e)
{

	if (archive_entry_hardlink(e) != NULL)
		return ("a hard link");
	switch (archive_entry_filetype(e)) {
	case AE_IFREG:
		return (NULL);
	case AE_IFDIR:
		return ("a directory");
	case AE_IFLNK:
		return ("a symbolic link");
	case AE_IFIFO:
		return ("a FIFO");
	case AE_IFSOCK:
		return ("a socket");
	case AE_IFBLK:
	case AE_IFCHR:
		return ("a device");
	default:
		return ("of no known kind");
	}
}

/* What the header of the member at hand says, and whether it may be read. */
static int
describe(struct cl_pack *p)
{
	struct archive_entry *e = p->entry;
	struct cl_pack_member *m = &p->member;
	const char *name = archive_entry_pathname(e);
	size_t n = name == NULL ? 0 : strlen(name);

	if (n == 0 || n > CL_PACK_NAME_MAX)
		return (cl_fail(&p->err, CL_ENOTSUP, "%s: a member whose name "
		    "has %zu bytes, not 1 to %d", name_of(p), n,
		    CL_PACK_NAME_MAX));
	if ((p->name = cl_vec_strndup(name, n, &p->err)) == NULL)
		return (p->err.code);
	m->name = p->name;
	(void)cl_text_vis(p->shown, sizeof(p->shown), name, n);
	m->other = other_kind(e);
	m->folder = archive_entry_filetype(e) == AE_IFDIR;
	m->nbytes = archive_entry_size_is_set(e) ?
	    (uint64_t)archive_entry_size(e) : CL_PACK_UNSIZED;
	p->spent = m->other != NULL;
	if (p->spent)
		return (CL_OK);
	if (archive_entry_is_encrypted(e))
		return (cl_fail(&p->err, CL_ENOTSUP, "%s:%s: the member is "
		    "encrypted", name_of(p), p->shown));
	if (archive_entry_sparse_count(e) > 0)
		return (cl_fail(&p->err, CL_ENOTSUP, "%s:%s: a sparse member",
		    name_of(p), p->shown));
	return (check_twin(p));
}

/*
 * A name in UTF-8 cannot be made one of the C locale, and arrives byte for byte
 * all the same.
 */
static bool
only_charset(struct archive *a, int r)
{
	const char *why = archive_error_string(a);

	return (r == ARCHIVE_WARN && why != NULL &&
	    strstr(why, "can't be converted from UTF-8") != NULL);
}

/* Behind the last member.  A tar cut there would look like a whole one. */
static int
check_end(struct cl_pack *p)
{
	int64_t at = archive_read_header_position(p->a);

	if (p->piece == NULL &&
	    archive_filter_bytes(p->a, 0) - at < END_MARK)
		return (cl_fail(&p->err, CL_ECUT, "%s: the archive ends "
		    "without its end mark: what stood behind %s is lost",
		    name_of(p), p->nnames == 0 ? "nothing" :
		    "its last member"));
	return (CL_END);
}

static int
next_header(struct cl_pack *p)
{
	int r = archive_read_next_header(p->a, &p->entry);

	if (r == ARCHIVE_OK || only_charset(p->a, r))
		return (describe(p));
	if (r == ARCHIVE_EOF)
		return (check_end(p));
	if (archive_read_has_encrypted_entries(p->a) == 1)
		return (cl_fail(&p->err, CL_ENOTSUP, "%s: the archive is "
		    "encrypted", name_of(p)));
	return (refused(p));
}

int
cl_pack_next(struct cl_pack *p, const struct cl_pack_member **m,
    struct cl_err *err)
{
	int status = CL_OK;

	if (p->err.code != CL_OK)
		return (failed(p, err));
	while (!p->spent && status == CL_OK)
		status = more(p);
	if (status < 0)
		return (failed(p, err));
	free(p->name);
	p->name = NULL;
	p->member.name = NULL;
	p->ndata = 0;
	p->given = 0;
	p->taken = false;
	p->spent = true;
	if ((status = next_header(p)) < 0)
		return (failed(p, err));
	*m = &p->member;
	return (status);
}

static int
member_read(void *ctx, void *buf, size_t cap, size_t *got, struct cl_err *err)
{
	struct cl_pack *p = ctx;
	int status;

	*got = 0;
	if (p->err.code != CL_OK)
		return (failed(p, err));
	if (p->ndata == 0) {
		if ((status = more(p)) == CL_END) {
			p->spent = true;
			return (CL_OK);
		}
		if (status != CL_OK)
			return (failed(p, err));
	}
	*got = cap < p->ndata ? cap : p->ndata;
	memcpy(buf, p->data, *got);
	p->data += *got;
	p->ndata -= *got;
	return (CL_OK);
}

/* The archive outlives the sources of its members. */
static void
member_close(void *ctx)
{

	(void)ctx;
}

struct cl_src *
cl_pack_read(struct cl_pack *p, struct cl_err *err)
{
	static const struct cl_src_ops ops = { member_read, member_close };
	size_t n = strlen(name_of(p)) + strlen(p->shown) + 2;
	struct cl_src *s = NULL;
	char *name;

	if (p->taken || p->member.other != NULL) {
		cl_fail(err, CL_EINVAL, "%s:%s: nothing to be read",
		    name_of(p), p->shown);
		return (NULL);
	}
	p->taken = true;
	if ((name = malloc(n)) == NULL) {
		cl_fail_nomem(err, "a member of an archive");
		return (NULL);
	}
	(void)snprintf(name, n, "%s:%s", name_of(p), p->shown);
	if ((s = cl_src_new(&ops, p, name, err)) != NULL)
		cl_src_stack(s, p->src);
	free(name);
	return (s);
}

void
cl_pack_close(struct cl_pack *p)
{

	if (p == NULL)
		return;
	if (p->a != NULL)
		(void)archive_read_free(p->a);
	cl_src_close(p->src);
	free(p->piece);
	free(p->name);
	free(p->names);
	free(p);
}
