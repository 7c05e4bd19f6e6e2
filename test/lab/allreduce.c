/* MPI_Allreduce of float sums, for the comparison in the lab: says how long each call took.
 *
 * Reads lines "BYTES" on the standard input of rank 0, makes a call for each and answers "BYTES SECONDS SLOWEST RIGHT".
 * SECONDS is from the last rank's start to the last rank's end on the clock that all hosts of the lab share, SLOWEST the longest time that a
 * rank spent in the call. Between the lines all ranks sleep: the processor belongs to others then.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

/* What a broadcast would do by spinning. */
static long next_bytes(int rank, int size) {
  long bytes = 0;
  if (rank == 0) {
    char line[64];
    if (!fgets(line, sizeof line, stdin) || sscanf(line, "%ld", &bytes) != 1) bytes = 0;
    for (int peer = 1; peer < size; peer++) MPI_Send(&bytes, 1, MPI_LONG, peer, 0, MPI_COMM_WORLD);
    return bytes;
  }
  for (int is_here = 0; !is_here;) {
    MPI_Iprobe(0, 0, MPI_COMM_WORLD, &is_here, MPI_STATUS_IGNORE);
    if (!is_here) nanosleep(&(struct timespec){ 0, 20 * 1000 * 1000 }, NULL);
  }
  MPI_Recv(&bytes, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return bytes;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) { printf("ready %d\n", size); fflush(stdout); }
  for (long bytes; (bytes = next_bytes(rank, size)) > 0;) {
    int count = (int)((bytes + 3) / 4);
    float *in = malloc(4 * (size_t)count), *out = malloc(4 * (size_t)count);
    if (!in || !out) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < count; i++) in[i] = rank + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now();
    MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    double end = now(), own[3] = { begin, end, end - begin }, most[3];
    int right = 1, all_right;
    for (int i = 0; i < count; i++) right &= out[i] == size * (size + 1) / 2.0f;
    MPI_Reduce(own, most, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&right, &all_right, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0) { printf("%ld %.9f %.9f %d\n", bytes, most[1] - most[0], most[2], all_right); fflush(stdout); }
    free(in);
    free(out);
  }
  MPI_Finalize();
  return 0;
}
