/* The kernels of a piece of work as a table, and the one place where the time of
 * a kernel is computed: a roofline. Each takes the longer of its FLOPs over the
 * peak and its bytes over the bandwidth that its kind reaches on the GPU. */
#pragma once

#include "config/scenario.h"

typedef enum
{
  KERNEL_MATMUL,
  KERNEL_ATTENTION,
  KERNEL_ATTENTION_BACKWARD,
  KERNEL_PASS, /* moves memory: elementwise, reductions, gathers */
  N_KERNEL_KINDS
} KernelKind;

typedef struct
{
  const char *name; /* "attention.query", static */
  KernelKind kind;
  double flops;       /* that it does */
  double model_flops; /* as MFU counts them: attention without the saving of the causal mask */
  double bytes;       /* read and written in GPU memory */
} Kernel;

/* What a GPU reaches with one dtype. */
typedef struct
{
  double flops_per_s[N_KERNEL_KINDS]; /* 0 for passes, which do none that count */
  double bytes_per_s;
} GpuSpeed;

GpuSpeed gpu_speed (const GpuConfig *gpu, Dtype dtype);

/* Kernels in the order of launching: a GArray of Kernel. */
GArray *kernels_new (void);

/* C[m,n] = A[m,k] x B[k,n], elements of @element bytes. */
void kernels_add_matmul (GArray *kernels, const char *name, double m, double n, double k,
                         double element);
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
