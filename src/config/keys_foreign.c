#include <config.h>

#include "config/keys_foreign.h"

#include "config/keys.h"

typedef struct
{
  const char *name;
  const char *key; /* of ours; NULL: none */
  const char *why; /* there is none */
} ForeignKey;

static const ForeignKey foreign[] = {
#define FOREIGN(name, key) { #name, key, NULL },
#define NO_KEY(name, why)  { #name, NULL, why },
#include "config/keys_foreign.def"
#undef FOREIGN
#undef NO_KEY
};

char *
foreign_key_clause (const char *key)
{
  for (guint i = 0; i < G_N_ELEMENTS (foreign); i++)
    {
      if (g_ascii_strcasecmp (foreign[i].name, key) != 0)
        continue;
      if (foreign[i].key == NULL)
        return g_strdup_printf ("; nothing here stands for it, since %s", foreign[i].why);
      g_assert (keys_find_dotted (foreign[i].key) != NULL);
      return g_strdup_printf ("; here it is '%s'", foreign[i].key);
    }
  return NULL;
}
