#include <config.h>

#include "fsdp/fsdp2.h"
#include "fsdp/offload.h"

static gint64
gathered_bytes (const Fsdp2 *fsdp, guint unit)
{
  return fsdp2_unit (fsdp, unit)->shard * units_shard_ranks (fsdp->runtime.writer->scenario)
         * fsdp2_unit (fsdp, unit)->gather_bytes;
}

static void
gather_streams_wait (Fsdp2 *fsdp, EventId event)
{
  Program *program = fsdp->runtime.writer->program;

  program_stream_wait (program, fsdp->copy_in, event);
  program_stream_wait (program, fsdp->all_gather, event);
}

/* The bytes that this rank brings to the gather. */
static gint64
input_bytes (const Fsdp2 *fsdp, guint unit)
{
  const Group *group = &fsdp->groups[unit];

  if (group->sharded == SHARDED_POST_FORWARD)
    return gathered_bytes (fsdp, unit) / group->reshard_ranks;
  return fsdp2_unit (fsdp, unit)->shard * fsdp2_unit (fsdp, unit)->gather_bytes;
}

/* all_gather_inputs: an offloaded shard comes to the GPU as it is. Out of pageable memory the host
 * waits for it. BUFFER_NONE where it is there already. */
static BufferId
copy_from_host (Fsdp2 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  const Unit *of = fsdp2_unit (fsdp, unit);
  gint64 bytes = of->shard * fsdp->original_bytes;
  gboolean pinned = writer->scenario->fsdp.pin_memory;

  if (!scenario_offloads_params (writer->scenario) || fsdp->groups[unit].sharded != SHARDED)
    return BUFFER_NONE;
  BufferId whole
      = program_alloc (writer->program, fsdp->copy_in, MEMORY_COMM_BUFFERS, bytes, of->label);
  offload_copy (writer, fsdp->copy_in, bytes, pinned, of->label);
  if (!pinned)
    offload_synchronize (writer, fsdp->copy_in, of->label);
  return whole;
}

/* On the copy-in stream: the shards in the param dtype, and from there into this
 * rank's slice of the output. A post-forward shard has that dtype already and is
 * staged all the same (_get_param_all_gather_inputs). */
static void
copy_in (Fsdp2 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  Group *group = &fsdp->groups[unit];
  guint32 label = fsdp2_unit (fsdp, unit)->label;
  gint64 bytes = input_bytes (fsdp, unit);
  gint64 shard_bytes
      = group->sharded == SHARDED ? fsdp2_unit (fsdp, unit)->shard * fsdp->original_bytes : bytes;
  gboolean cast = fsdp2_unit (fsdp, unit)->gather_bytes != fsdp->original_bytes;
  BufferId whole = copy_from_host (fsdp, unit);
  BufferId staging = whole;

  if (cast)
    {
      staging = program_alloc (writer->program, fsdp->copy_in, MEMORY_COMM_BUFFERS, bytes, label);
      writer_copy (writer, fsdp->copy_in, shard_bytes + bytes, label);
    }
  if (cast && whole != BUFFER_NONE)
    program_free_buffer (writer->program, whole, 0);
  group->gather_output = program_alloc (writer->program, fsdp->copy_in, MEMORY_COMM_BUFFERS,
                                        gathered_bytes (fsdp, unit), label);
  writer_copy (writer, fsdp->copy_in, 2 * bytes, label);
  if (staging != BUFFER_NONE)
    program_free_buffer (writer->program, staging, 0);
}

void
fsdp2_unshard (Fsdp2 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  Group *group = &fsdp->groups[unit];
  const Unit *of = fsdp2_unit (fsdp, unit);
  gboolean small_group = group->sharded == SHARDED_POST_FORWARD;

  if (group->gather_pending || group->sharded == UNSHARDED)
    return;
  if (group->reshard_is_new)
    gather_streams_wait (fsdp, group->resharded);
  group->reshard_is_new = FALSE;
  copy_in (fsdp, unit);
  program_stream_wait_stream (writer->program, fsdp->all_gather, fsdp->copy_in);
  if (units_shard_ranks (writer->scenario) > 1) /* else the copy-in was all of it */
    writer_collective (
        writer,
        &(WriterCollective){ .communicator = small_group ? fsdp->post_forward : fsdp->shard,
                             .stream = fsdp->all_gather,
                             .kind = COLLECTIVE_ALL_GATHER,
                             .bytes = gathered_bytes (fsdp, unit),
                             .in_place = TRUE,
                             .given = of->all_gather },
        of->label);
  program_record (writer->program, group->gathered, fsdp->all_gather);
  group->gather_pending = TRUE;
}

static void
drop_gather_output (Fsdp2 *fsdp, guint unit)
{
  Group *group = &fsdp->groups[unit];

  program_free_buffer (fsdp->runtime.writer->program, group->gather_output, 0);
  group->gather_output = BUFFER_NONE;
}

void
fsdp2_release_parked (Fsdp2 *fsdp)
{
  if (fsdp->parked == BUFFER_NONE)
    return;
  gather_streams_wait (fsdp, fsdp->parked_copied_out);
  program_free_buffer (fsdp->runtime.writer->program, fsdp->parked, 0);
  fsdp->parked = BUFFER_NONE;
}

static void
drop_post_forward_shard (Fsdp2 *fsdp, Group *group)
{
  if (group->sharded != SHARDED_POST_FORWARD)
    return;
  program_free_buffer (fsdp->runtime.writer->program, group->post_forward_shard, 0);
  group->post_forward_shard = BUFFER_NONE;
}

void
fsdp2_wait_for_unshard (Fsdp2 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  Group *group = &fsdp->groups[unit];
  guint32 label = fsdp2_unit (fsdp, unit)->label;
  gint64 bytes = gathered_bytes (fsdp, unit);

  if (!group->gather_pending)
    return;
  if (group->state == GROUP_FORWARD)
    fsdp2_release_parked (fsdp);
  program_stream_wait (writer->program, writer->compute, group->gathered);
  group->unsharded
      = program_alloc (writer->program, writer->compute, MEMORY_UNSHARDED_PARAMS, bytes, label);
  writer_copy (writer, writer->compute, 2 * bytes, label);
  drop_post_forward_shard (fsdp, group);
  group->sharded = UNSHARDED;
  program_record (writer->program, group->copied_out, writer->compute);
  group->gather_pending = FALSE;
  if (group->state == GROUP_FORWARD)
    {
      fsdp->parked = group->gather_output; /* so that this copy-out overlaps the next gather */
      fsdp->parked_copied_out = group->copied_out;
      group->gather_output = BUFFER_NONE;
      return;
    }
  gather_streams_wait (fsdp, group->copied_out);
  drop_gather_output (fsdp, unit);
}

/* _to_sharded_post_forward: keeps a clone of one rank's slice of a smaller group. */
static void
keep_post_forward_shard (Fsdp2 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  Group *group = &fsdp->groups[unit];
  guint32 label = fsdp2_unit (fsdp, unit)->label;
  gint64 bytes = gathered_bytes (fsdp, unit) / group->reshard_ranks;

  group->post_forward_shard
      = program_alloc (writer->program, writer->compute, MEMORY_UNSHARDED_PARAMS, bytes, label);
  writer_copy (writer, writer->compute, 2 * bytes, label);
  group->sharded = SHARDED_POST_FORWARD;
  program_record (writer->program, group->resharded, writer->compute);
  group->reshard_is_new = TRUE;
}

void
fsdp2_reshard (Fsdp2 *fsdp, guint unit)
{
  Group *group = &fsdp->groups[unit];
  gboolean forward = group->state == GROUP_FORWARD;

  if (group->sharded != UNSHARDED || (forward && !group->reshard_after_forward))
    return;
  if (forward && group->reshard_ranks > 0)
    keep_post_forward_shard (fsdp, unit);
  else
    group->sharded = SHARDED;
  program_free_buffer (fsdp->runtime.writer->program, group->unsharded, 0);
  group->unsharded = BUFFER_NONE;
}

void
fsdp2_prefetch (Fsdp2 *fsdp, guint target)
{
  if (fsdp2_unit (fsdp, target)->elements > 0)
    fsdp2_unshard (fsdp, target);
}

void
fsdp2_drop_mistargeted (Fsdp2 *fsdp, guint unit)
{
  Group *group = &fsdp->groups[unit];
  Writer *writer = fsdp->runtime.writer;

  if (!group->gather_pending)
    return;
  program_stream_wait (writer->program, writer->compute, group->gathered);
  group->gather_pending = FALSE;
  drop_gather_output (fsdp, unit);
}
