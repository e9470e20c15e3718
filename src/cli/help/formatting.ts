export const formattingTopic = `Data goes to standard output, everything else (notes, questions, progress,
errors) to standard error, so that the output of a command can be kept or piped.

Without --json the output is for people: one line per field, or a table. On a
terminal it is as wide as that, and texts that do not fit are cut with an
ellipsis; ids never are. Off a terminal nothing is cut. These words may change
between versions.

With --json the output is the answer of the API as it came: the object, or for a
list {"data", "total", "page", "limit"}, with every page in one where --all is
given. Fields are only ever added. What is no answer of the API (config, doctor,
profiles, completion) is the same facts as JSON.

  $ oplink orgs list --json | jq -r '.data[] | [.orgKey, .name] | @tsv'
  $ oplink links list --org Ab12 --all --json | jq '.data | length'

links export writes the links as NDJSON, JSON or CSV, whichever --format says,
and takes no part in this.

Colour and animation appear on a terminal only, and never with NO_COLOR or with
TERM=dumb. Times are in UTC, in the form of ISO 8601.`;
