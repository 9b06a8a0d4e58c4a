/* Heat spreading over a plate, with OpenMP: a program that loses time on NUMA machines depending on one decision, who
 * touches the memory first. Usage: heat [serial|interleaved|first-touch] [ROWS] [STEPS]
 * docs/find-your-numa-problem.md looks at it with weir emulate. */
#include <weir/region.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { interleave_policy = 3, most_nodes = 64 }; /* MPOL_INTERLEAVE of linux/mempolicy.h */

/* Pages of this thread go round robin over the nodes from now on. */
static void interleave_pages(void) {
  unsigned long nodes = 0;
  for (int n = 0; n < most_nodes; n++) {
    char name[64];
    snprintf(name, sizeof name, "/sys/devices/system/node/node%d", n);
    if (access(name, F_OK) == 0) nodes |= 1UL << n;
  }
  syscall(SYS_set_mempolicy, interleave_policy, &nodes, most_nodes);
}

static void set_row(double* plate, long rows, long i) {
  for (long j = 0; j < rows; j++) plate[i * rows + j] = i == 0 ? 100 : 0;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "serial";
  const long rows = argc > 2 ? atol(argv[2]) : 768, steps = argc > 3 ? atol(argv[3]) : 6;
  const int parallel = strcmp(how, "first-touch") == 0;
  if ((!parallel && strcmp(how, "serial") != 0 && strcmp(how, "interleaved") != 0) || rows < 3 || steps < 1) {
    fprintf(stderr, "usage: heat [serial|interleaved|first-touch] [ROWS] [STEPS]\n");
    return 2;
  }
  if (strcmp(how, "interleaved") == 0) interleave_pages();
  double* now = malloc((size_t)(rows * rows) * sizeof *now);
  double* next = malloc((size_t)(rows * rows) * sizeof *next);
  if (now == NULL || next == NULL) return 1;

  /* Who writes a page first gets it on its node. With "serial" that is one thread, for all of them. */
#pragma omp parallel for schedule(static) if (parallel)
  for (long i = 0; i < rows; i++) {
    set_row(now, rows, i);
    set_row(next, rows, i);
  }

  WEIR_REGION_BEGIN(0);
  for (long step = 0; step < steps; step++) {
#pragma omp parallel for schedule(static)
    for (long i = 1; i < rows - 1; i++)
      for (long j = 1; j < rows - 1; j++) next[i * rows + j] = 0.25 * (now[(i - 1) * rows + j] + now[i * rows + j - 1] + now[i * rows + j + 1] + now[(i + 1) * rows + j]);
    double* const last = now;
    now = next;
    next = last;
  }
  WEIR_REGION_END(0);

  /* Below the hot edge a quarter of its heat arrives in the first step; left and right are alike. */
  const double left = now[rows + 1], right = now[2 * rows - 2];
  printf("%s: %ld steps, corners %.6f and %.6f\n", how, steps, left, right);
  return left >= 25.0 && left == right ? 0 : 1;
}
