#include <config.h>

#include "interop/trace_peers.h"

typedef struct
{
  SimTime shortest;
  guint n_ranks;
} Peer;

typedef struct
{
  guint64 key;
  GArray *peers; /* Peer, in order */
  guint rank;    /* whose place is next */
  guint next;
} PeerList;

struct _TracePeers
{
  GHashTable *lists; /* PeerList by key */
  guint rank;
};

static void
list_free (gpointer data)
{
  PeerList *list = data;

  g_array_unref (list->peers);
  g_free (list);
}

TracePeers *
trace_peers_new (void)
{
  TracePeers *peers = g_new0 (TracePeers, 1);

  peers->lists = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, list_free);
  return peers;
}

void
trace_peers_free (TracePeers *peers)
{
  if (peers == NULL)
    return;
  g_hash_table_unref (peers->lists);
  g_free (peers);
}

void
trace_peers_begin_rank (TracePeers *peers)
{
  peers->rank++;
}

static PeerList *
find_list (TracePeers *peers, guint64 key)
{
  PeerList *list = g_hash_table_lookup (peers->lists, &key);

  if (list == NULL)
    {
      list = g_new0 (PeerList, 1);
      list->key = key;
      list->peers = g_array_new (FALSE, TRUE, sizeof (Peer));
      g_hash_table_insert (peers->lists, &list->key, list);
    }
  if (list->rank != peers->rank)
    list->next = 0;
  list->rank = peers->rank;
  return list;
}

void
trace_peers_add (TracePeers *peers, guint64 key, SimTime duration)
{
  PeerList *list = find_list (peers, key);
  Peer *peer;

  if (list->next == list->peers->len)
    g_array_set_size (list->peers, list->next + 1);
  peer = &g_array_index (list->peers, Peer, list->next++);
  peer->shortest = peer->n_ranks == 0 ? duration : MIN (peer->shortest, duration);
  peer->n_ranks++;
}

static gboolean
list_has_met (const PeerList *list)
{
  for (guint i = 0; i < list->peers->len; i++)
    if (g_array_index (list->peers, Peer, i).n_ranks > 1)
      return TRUE;
  return FALSE;
}

gboolean
trace_peers_have_met (const TracePeers *peers)
{
  GHashTableIter iter;
  gpointer list;

  g_hash_table_iter_init (&iter, peers->lists);
  while (g_hash_table_iter_next (&iter, NULL, &list))
    if (list_has_met (list))
      return TRUE;
  return FALSE;
}

SimTime
trace_peers_shortest (TracePeers *peers, guint64 key)
{
  PeerList *list = find_list (peers, key);
  const Peer *peer;

  if (list->next >= list->peers->len)
    return SIM_TIME_NONE;
  peer = &g_array_index (list->peers, Peer, list->next++);
  return peer->n_ranks > 1 ? peer->shortest : SIM_TIME_NONE;
}
