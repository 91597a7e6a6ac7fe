/* trialdir.c -- folders and files of trials. */
#define _GNU_SOURCE
#include "backend/trialdir.h"

#include "base/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char OUTCOME[] = "outcome.json", FRESH_OUTCOME[] = ".outcome.json.new";

static wn_status fail_io(struct err *err, const char *what, const char *path)
{
    return wni_fail(err, WN_EIO, "cannot %s '%s': %s", what, path, strerror(errno));
}

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool make_one(const char *path)
{
    return mkdir(path, 0777) == 0 || (errno == EEXIST && is_folder(path));
}

wn_status wni_folder_make(const char *folder, char absolute[TRIAL_PATH_MAX], struct err *err)
{
    char path[TRIAL_PATH_MAX];
    if (snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path - 64)
        return wni_fail(err, WN_EINVAL, "folder '%.100s...': the name is too long", folder);
    for (char *slash = path; *slash && (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        if (!make_one(path)) return fail_io(err, "make folder", path);
        *slash = '/';
    }
    if (!make_one(path)) return fail_io(err, "make folder", path);
    char *full = realpath(path, NULL);
    if (!full) return fail_io(err, "find folder", path);
    size_t n = strlen(full);
    bool fits = n < TRIAL_PATH_MAX - 64;
    if (fits) memcpy(absolute, full, n + 1);
    free(full);
    return fits ? WN_OK : wni_fail(err, WN_EINVAL, "folder '%s': the full name is too long", path);
}

const char *wni_trial_path(char out[TRIAL_PATH_MAX], const char *folder, uint32_t trial, const char *name)
{
    snprintf(out, TRIAL_PATH_MAX, "%s/trial-%05u%s%s", folder, trial, *name ? "/" : "", name);
    return out;
}

uint32_t wni_trial_folders(const char *folder)
{
    DIR *listing = opendir(folder);
    uint32_t known = 0;
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        if (strncmp(entry->d_name, "trial-", 6) != 0) continue;
        unsigned long trial = strtoul(entry->d_name + 6, NULL, 10);
        if (trial >= known && trial < UINT32_MAX) known = (uint32_t)trial + 1;
    }
    if (listing) closedir(listing);
    return known;
}

void wni_trial_folder_clear(const char *folder, uint32_t trial)
{
    static const char *const names[] = {"stdout", "stderr", OUTCOME};
    char path[TRIAL_PATH_MAX];
    if (access(wni_trial_path(path, folder, trial, ""), F_OK) != 0) return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(wni_trial_path(path, folder, trial, names[i]));
    wni_trial_checkpoint_remove(folder, trial);
}

const struct making *wni_trial_makings(const char *folder, uint32_t trial, const struct buf *config,
                                       struct arena *arena)
{
    static const struct {
        enum making_kind kind;
        int place;
        const char *name;
    } wanted[TRIAL_MAKINGS] = {
        [TRIAL_FOLDER] = {MAKE_FOLDER, 0, ""},          [TRIAL_CHECKPOINT] = {MAKE_FOLDER, 0, "checkpoint"},
        [TRIAL_CONFIG] = {MAKE_FILE, 0, "config.json"}, [TRIAL_STDOUT] = {MAKE_OUTPUT, 1, "stdout"},
        [TRIAL_STDERR] = {MAKE_OUTPUT, 2, "stderr"},    [TRIAL_OUTCOME] = {MAKE_FILE, 0, FRESH_OUTCOME}};
    char path[TRIAL_PATH_MAX];
    struct making *makings = arena_new(arena, struct making, TRIAL_MAKINGS);
    for (int i = 0; makings && i < TRIAL_MAKINGS; i++) {
        wni_trial_path(path, folder, trial, wanted[i].name);
        makings[i] = (struct making){
            .kind = wanted[i].kind, .place = wanted[i].place, .path = wni_arena_strdup(arena, path)};
        if (!makings[i].path) return NULL;
    }
    if (!makings) return NULL;
    makings[TRIAL_CONFIG].text = wni_arena_strdup(arena, wni_buf_text(config));
    makings[TRIAL_CONFIG].length = config->len;
    return makings[TRIAL_CONFIG].text ? makings : NULL;
}

/* Without O_TRUNC: ext4 gives a file that was truncated its blocks when it is closed, and we would wait. */
static bool write_file(const char *path, const struct buf *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return false;
    bool fine = lseek(fd, 0, SEEK_END) == 0 || (ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    fine = fine && write(fd, wni_buf_text(text), text->len) == (ssize_t)text->len;
    return close(fd) == 0 && fine;
}

void wni_trial_outcome_write(const char *folder, uint32_t trial, const struct buf *text)
{
    char path[TRIAL_PATH_MAX], fresh[TRIAL_PATH_MAX];
    wni_trial_path(path, folder, trial, OUTCOME);
    wni_trial_path(fresh, folder, trial, FRESH_OUTCOME);
    if (!write_file(fresh, text) || rename(fresh, path) != 0) unlink(fresh);
}

static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *where)
{
    (void)s, (void)kind;
    if (where->level > 0) remove(path);
    return 0;
}

static bool is_empty(const char *path)
{
    DIR *listing = opendir(path);
    int n = 0;
    while (listing && n < 3 && readdir(listing))
        n++;
    if (listing) closedir(listing);
    return n < 3; /* . and .. */
}

/* The folder itself stays: most are empty, and a file system that has just lost a thousand entries is slow to
 * make new ones (ext4 passes over inodes freed within five seconds). */
void wni_trial_checkpoint_remove(const char *folder, uint32_t trial)
{
    char path[TRIAL_PATH_MAX];
    wni_trial_path(path, folder, trial, "checkpoint");
    if (is_empty(path)) return;
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); /* links in it are removed, not followed */
}

/* Where the last `lines` lines of a text begin. */
static const char *last_lines(const char *text, size_t n, int lines)
{
    const char *at = text + n;
    while (at > text && (at[-1] != '\n' || --lines > 0))
        at--;
    return at;
}

/* As wni_utf8_tidy(), but newlines stay. */
static void tidy_lines(const char *text, char *out)
{
    char line[TAIL_MAX + 1];
    size_t used = 0;
    while (*text) {
        size_t n = strcspn(text, "\n");
        memcpy(line, text, n);
        line[n] = '\0';
        wni_utf8_tidy(line);
        memcpy(out + used, line, strlen(line));
        used += strlen(line);
        text += n;
        if (*text) out[used++] = *text++;
    }
    out[used] = '\0';
}

void wni_file_tail(int fd, uint64_t from, char out[TAIL_MAX + 1])
{
    enum { LINES = 10 };
    char text[TAIL_MAX + 1];
    struct stat s;
    off_t size = fstat(fd, &s) == 0 ? s.st_size : 0;
    off_t start = size - TAIL_MAX > (off_t)from ? size - TAIL_MAX : (off_t)from;
    ssize_t n = size > start ? pread(fd, text, TAIL_MAX, start) : 0;
    if (n < 0) n = 0;
    for (ssize_t i = 0; i < n; i++)
        if (text[i] == '\0') text[i] = '?';
    while (n > 0 && strchr("\r\n \t", text[n - 1]))
        n--;
    text[n] = '\0';
    tidy_lines(last_lines(text, (size_t)n, LINES), out);
}
