// Preloaded into the server by failing-writes.ts: calls that write below one path fail with an
// error, like those of a full or broken disk. Declares what it uses, so that no headers are needed.
typedef long ssize_t;
typedef unsigned long size_t;

enum { O_RDWR = 2, MAP_SHARED = 1, PROT_READ_WRITE = 3, NEXT = -1, AT_FDCWD = -100 };
enum { O_WRITES = 01 | 02 | 0100 | 01000, PATH_BYTES = 4096 };

char *getenv(const char *name);
void *dlsym(void *handle, const char *name);
int *__errno_location(void);
void *mmap(void *address, size_t length, int protection, int flags, int descriptor, long offset);
ssize_t readlink(const char *path, char *target, size_t size);
int snprintf(char *text, size_t size, const char *format, ...);
char *strstr(const char *text, const char *part);

/** The file that failing-writes.ts writes; `path` is a part of the paths that fail, or empty. */
static volatile struct {
  int error;
  int failures;
  char path[PATH_BYTES];
} *control;

__attribute__((constructor)) static void load(void) {
  int (*open)(const char *, int, int) = dlsym((void *)NEXT, "open");
  const char *path = getenv("FAILING_WRITES");
  int descriptor = path ? open(path, O_RDWR, 0) : -1;
  if (descriptor < 0) return;
  void *mapped = mmap(0, sizeof *control, PROT_READ_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped != (void *)-1) control = mapped;
}

static int fails(const char *path) {
  if (!control || !control->path[0] || !path || !strstr(path, (const char *)control->path)) return 0;
  control->failures += 1;
  *__errno_location() = control->error;
  return 1;
}

static int fails_at(int descriptor) {
  if (!control || !control->path[0]) return 0;
  char link[64], path[PATH_BYTES];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return fails(path);
}

#define WRITES(type, name, parameters, arguments) \
  type name parameters { \
    static type(*real) parameters; \
    if (!real) real = dlsym((void *)NEXT, #name); \
    return fails_at(fd) ? -1 : real arguments; \
  }

#define CHANGES(name, parameters, arguments) \
  int name parameters { \
    static int(*real) parameters; \
    if (!real) real = dlsym((void *)NEXT, #name); \
    return fails(path) ? -1 : real arguments; \
  }

WRITES(ssize_t, write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
WRITES(ssize_t, writev, (int fd, const void *parts, int count), (fd, parts, count))
WRITES(ssize_t, pwrite, (int fd, const void *bytes, size_t size, long at), (fd, bytes, size, at))
WRITES(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, long at), (fd, bytes, size, at))
WRITES(ssize_t, pwritev, (int fd, const void *parts, int count, long at), (fd, parts, count, at))
WRITES(ssize_t, pwritev64, (int fd, const void *parts, int count, long at), (fd, parts, count, at))
WRITES(int, fsync, (int fd), (fd))
WRITES(int, fdatasync, (int fd), (fd))
WRITES(int, ftruncate, (int fd, long size), (fd, size))
WRITES(int, ftruncate64, (int fd, long size), (fd, size))
CHANGES(mkdir, (const char *path, unsigned mode), (path, mode))
CHANGES(rename, (const char *from, const char *path), (from, path))
CHANGES(link, (const char *from, const char *path), (from, path))

// `mode` is passed on even where the caller passed none: it is ignored then.
#define OPENS(name) \
  int name(const char *path, int flags, unsigned mode) { \
    static int (*real)(const char *, int, unsigned); \
    if (!real) real = dlsym((void *)NEXT, #name); \
    return (flags & 0100) && fails(path) ? -1 : real(path, flags, mode); \
  }

OPENS(open)
OPENS(open64)
