/* command.h -- the command a trial runs: words with {placeholders}, no shell unless asked for.
 *
 * Placeholders are {NAME} for each parameter, {resource.min}, {resource.max} and {trial}; {{ and }} are the
 * braces themselves.  They are checked when the study file is read, so expanding cannot meet an unknown one.
 */
#ifndef WNI_STUDYFILE_COMMAND_H
#define WNI_STUDYFILE_COMMAND_H

#include "core/space.h"

struct command {
    const char *const *words; /* NULL after the last; with `shell` a single one, the whole line */
    size_t n;
    bool shell; /* run by /bin/sh -c */
};

/* Where in a text a mistake is, in bytes from its start. */
struct command_mistake {
    size_t offset;
    struct err err;
};

/* Splits a line into words as a shell would: blanks and newlines part them, '...' is literal, in "..." a
 * backslash escapes " and \, elsewhere any character.  Words that only a shell understands (| > && ...) are
 * refused.  *words is in the arena. WN_EINVAL: mistake says what and where. */
wn_status wni_command_split(const char *line, struct arena *arena, const char *const **words, size_t *n,
                            struct command_mistake *mistake);

/* What may stand in braces besides resource.min, resource.max and trial. */
struct command_names {
    const char *const *parameters;
    size_t n;
    bool has_resource; /* the study has a resource */
};

/* Looks at the placeholders of a text from *offset on.  WN_OK: they are all right.  WN_EINVAL: mistake tells
 * the next that is not, and *offset is behind it, so that a loop finds all. */
wn_status wni_command_check(const char *text, const struct command_names *names, size_t *offset,
                            struct command_mistake *mistake);

/* What one trial puts in the placeholders. */
struct command_values {
    const struct space *space;
    const double *config;
    double min_resource, max_resource;
    int64_t trial;
};

/* The argument vector for one trial, NULL-terminated, in the arena.  For a shell it is /bin/sh -c LINE, with
 * values quoted where the shell would see more in them than text. */
wn_status wni_command_expand(const struct command *command, const struct command_values *values,
                             struct arena *arena, const char *const **argv, struct err *err);

#endif
