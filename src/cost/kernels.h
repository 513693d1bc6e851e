/* The kernels of a piece of work as a table, and the one place where the time of
 * a kernel is computed. Each takes the longer of its arithmetic over the peak and
 * its bytes over the bandwidth that its kind reaches on the GPU; a matmul loses
 * something to short depth and to tiles that do not fill the GPU. docs/cost.md has the
 * formulas. */
#pragma once

#include "config/scenario.h"

typedef enum
{
  KERNEL_MATMUL,
  KERNEL_MATMUL_FP8,         /* scaled by tensor */
  KERNEL_MATMUL_FP8_ROWWISE, /* scaled by row */
  KERNEL_ATTENTION,
  KERNEL_ATTENTION_BACKWARD,
  KERNEL_PASS, /* moves memory: elementwise, reductions, gathers */
  N_KERNEL_KINDS
} KernelKind;

typedef struct
{
  const char *name; /* "attention.query", static */
  KernelKind kind;
  gboolean is_mm;     /* a product of two matrices, one call of aten.mm */
  gboolean is_cudnn;  /* attention by cuDNN, an operator of its own */
  double m, n, k;     /* of matmuls; of attention m x n is the result; 0 else */
  double flops;       /* that it does */
  double model_flops; /* as MFU counts them: attention without the saving of the causal mask */
  double bytes;       /* read and written in GPU memory */
  guint piece;        /* of a block's kernels, BlockPieceId */
} Kernel;

/* What a GPU reaches with the kernels of a scenario. */
typedef struct
{
  double flops_per_s[N_KERNEL_KINDS]; /* 0 for passes, which do none that count */
  double bytes_per_s;                 /* of a kernel that does nothing else */
  double fill_depth;                  /* added to a matmul's k */
  double multiprocessors;
  double tail_waves; /* of tiles, which a matmul takes beyond those it fills */
  double slowest;    /* how many times as long the slowest GPU of the job takes */
} GpuSpeed;

GpuSpeed gpu_speed (const Scenario *scenario);

/* Kernels in the order of launching: a GArray of Kernel. */
GArray *kernels_new (void);

/* C[m,n] = A[m,k] x B[k,n], elements of @element bytes. @kind: one of the matmuls. */
void kernels_add_matmul (GArray *kernels, KernelKind kind, const char *name, double m, double n,
                         double k, double element);
/* As many of them in one launch, each with its own matrices, whose tiles fill the GPU together. */
void kernels_add_grouped_matmul (GArray *kernels, KernelKind kind, const char *name,
                                 double n_groups, double m, double n, double k, double element);
/* A kernel that only moves memory. */
void kernels_add_pass (GArray *kernels, const char *name, double bytes);

double kernel_seconds (const Kernel *kernel, const GpuSpeed *speed);

/* Sums over a list. */
typedef struct
{
  double seconds;
  double model_flops;
  double bytes;
  guint n_kernels;
} KernelSums;

KernelSums kernels_sum (const GArray *kernels, const GpuSpeed *speed);
